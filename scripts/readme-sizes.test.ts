/** Compares sizes that documents quote with the budgets that `npm run packages` measures against. @module */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

interface Budget {
  readonly names: readonly string[]
  readonly web: number
  readonly node: number
}
const budgets = JSON.parse(read('scripts/size-budgets.json')) as Budget[]

const documents = [
  'README.md',
  ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}/README.md`),
  ...readdirSync(join(root, 'docs/decisions')).map((name) => `docs/decisions/${name}`),
]

/** A size follows its names: `createClient` 26.5 kB, or `parseAmount` with `formatAmount` 1.2 kB. */
const quoted = /`(\w+)`(?: with `(\w+)`)?(?: may take)? (\d+(?:[.]\d+)?) k?B\b/g

/** Documents that may quote compressed sizes without such names: those of other libraries. */
const sizes = documents.flatMap((path) =>
  [...read(path).replaceAll('\n', ' ').matchAll(quoted)].map(([, first = '', second, kB]) => ({
    path,
    names: [first, ...(second === undefined ? [] : [second])],
    kB: Number(kB),
  })),
)

test('every size that a document quotes is the budget of these imports, on the web and on Node', () => {
  for (const { path, names, kB } of sizes) {
    const found = budgets.filter((budget) => budget.names.toSorted().join() === names.toSorted().join())
    expect(
      found.map(({ web, node }) => [web, node]),
      `${path}: ${names.join(', ')}`,
    ).toEqual([[kB * 1000, kB * 1000]])
  }
})

test('documents quote sizes in no other format', () => {
  expect(sizes.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['README.md', 'packages/client/README.md', 'packages/webhook/README.md']),
  )
  for (const path of documents)
    for (const paragraph of read(path)
      .split(/\n\n+/)
      .filter((text) => /\bgzipped\b/i.test(text))) {
      const line = paragraph.replaceAll('\n', ' ')
      expect([...line.matchAll(/\d k?B\b/gi)].length, `${path}: ${line}`).toBe([...line.matchAll(quoted)].length)
    }
})
