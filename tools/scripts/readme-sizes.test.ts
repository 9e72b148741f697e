/** Compares sizes that documents quote with their budgets, and checks the length of READMEs. @module */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

interface Budget {
  readonly names: readonly string[]
  readonly web: number
  readonly node: number
}
const budgets = JSON.parse(read('tools/scripts/size-budgets.json')) as Budget[]

const packages = readdirSync(join(root, 'packages'))
const documents = [
  'README.md',
  ...packages.map((name) => `packages/${name}/README.md`),
  ...['decisions', 'guides'].flatMap((folder) =>
    readdirSync(join(root, 'docs', folder)).map((name) => `docs/${folder}/${name}`),
  ),
]

test('no README of a package has more than 150 lines; the rest is a page in docs/guides', () => {
  const lengths = packages.map(
    (name) => [name, read(`packages/${name}/README.md`).trimEnd().split('\n').length] as const,
  )
  expect(lengths.filter(([, length]) => length > 150)).toEqual([])
})

test('the README of a package names each of its entries', () => {
  const api = JSON.parse(read('tools/scripts/public-api.snapshot.json')) as Record<string, Record<string, unknown>>
  const unnamed = packages.flatMap((name) => {
    const text = read(`packages/${name}/README.md`)
    const entries = Object.keys(api[`@payment-integration/${name}`] ?? {}).filter((entry) => entry !== '.')
    return entries
      .filter((entry) => !text.includes(`\`${entry}\``) && !text.includes(`integration/${name}${entry.slice(1)}`))
      .map((entry) => `${name}: ${entry}`)
  })
  expect(unnamed).toEqual([])
})

test('every guide is named by a README or another page', () => {
  const texts = [...documents, 'docs/doctor.md', 'docs/explain.md'].map((path) => [path, read(path)] as const)
  const guides = documents.filter((path) => path.startsWith('docs/guides/'))
  const named = (guide: string) => texts.some(([path, text]) => path !== guide && text.includes(guide.slice(5)))
  expect(guides.filter((guide) => !named(guide))).toEqual([])
})

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
