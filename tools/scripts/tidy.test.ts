/** House rules about every file of the repository. The patterns do not match themselves. @module */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { listRepositoryFiles } from '../site/generate/routes.js'

const root = join(import.meta.dirname, '../..')
const files = listRepositoryFiles(root).flatMap((path) => {
  try {
    return [{ path, text: readFileSync(join(root, path), 'utf8') }]
  } catch {
    return [] // deleted and not yet committed, or a folder of another repository
  }
})
const code = files.filter(({ path }) => /[.](ts|tsx|mts|js|mjs|cjs|sol)$/.test(path) && !path.includes('.generated.'))

const manifests = files.filter(({ path }) => /^packages\/[^/]+\/package[.]json$/.test(path))

/** `path:line` of every line that matches. */
function places(among: typeof files, pattern: RegExp): string[] {
  return among.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}`] : [])),
  )
}

test('git lists the files of this repository', () => {
  expect(files.map(({ path }) => path)).toContain('package.json')
  expect(code.length).toBeGreaterThan(20)
})

test('no file names the host of a package registry', () => {
  expect(places(files, /registry[.][a-z]+[.](org|com)|deb[.]debian[.]org/)).toEqual([])
})

test('no file names a folder of a developer machine', () => {
  const others = files.filter(({ path }) => path !== '.gitignore')
  expect(places(others, /(^|[\s"'`(=])\/(wor[k]|far[m]|roo[t]|Users|home\/[a-z]+)\/|[.]librar[y]\b/)).toEqual([])
})

test('no test is skipped or focused', () => {
  expect(places(code, /\b(it|test|describe)[.](only|skip|to[d]o)\b|\bx(it|describe)[(]/)).toEqual([])
})

test('no code is marked as unfinished', () => {
  expect(places(code, /\b(to[d]o|fix[m]e|xx[x]|hac[k])\b|not implemente[d]|for no[w]|stu[b]/i)).toEqual([])
})

test('no file that ships combines AbortSignal.any with AbortSignal.timeout, which Node 20 collects before it fires', () => {
  const shipped = code.filter(({ path }) => /^packages\/[^/]+\/src\//.test(path) && !path.includes('.test.'))
  const has = (pattern: RegExp) => (file: { readonly text: string }) => pattern.test(file.text)
  const combined = shipped.filter(has(/AbortSignal[.]any\(/)).filter(has(/AbortSignal[.]timeout\(/))
  expect(combined.map(({ path }) => path)).toEqual([])
})

test('npx names the package of this scope: the bare name of the command belongs to nobody', () => {
  expect(places(files, /npx (-y |--yes )?payment-integratio[n]/)).toEqual([])
})

test('times and numbers in text are parsed by their form', () => {
  // Date.parse takes "soon 5" for a day of 2001, and the others take "12abc" for 12. These files call them after a
  // check of the form, of a schema or of a pattern.
  const checked = [
    ...['chain-evm/src/prices/token-metadata.ts', 'chain-evm/src/decode/integrations.ts', 'chain-evm/src/proof/'],
    ...['cli/src/commands/mirror.ts', 'cli/src/dev/printer.ts', 'client/src/payments.ts'],
    ...['client/src/reconcile/', 'console/src/view/text.ts'],
    ...['contract/src/foreign-text.ts', 'core/src/operators/operator-sessions.ts'],
    ...['identity-sumsub/src/signed-calls.ts', 'mirror/src/mirror.ts', 'mirror/src/reconcile.ts'],
    ...['testing/src/builders.ts', 'testing/src/explain/'],
  ]
  const shipped = code.filter(({ path }) => /^packages\/[^/]+\/src\//.test(path) && !/[.]test[.]tsx?$/.test(path))
  const others = shipped.filter(({ path }) => !checked.some((each) => path.startsWith(`packages/${each}`)))
  expect(places(others, /\b(Date[.]parse|parseInt|parseFloat)[(]/)).toEqual([])
})

test('no file has a mark of an unfinished merge', () => {
  expect(places(files, /^(<{7}|>{7}) /)).toEqual([])
})

test('no hand-written file of code is over 450 lines', () => {
  expect(code.filter(({ text }) => text.split('\n').length > 451).map(({ path }) => path)).toEqual([])
})

test('the README names the two commands', () => {
  const readme = files.find(({ path }) => path === 'README.md')?.text ?? ''
  expect(readme).toContain('npm ci && npm start')
  expect(readme).toContain('npm ci && npm test')
})

test('changesets raises the versions of all packages together', () => {
  const config = JSON.parse(readFileSync(join(root, '.changeset/config.json'), 'utf8'))
  expect(config.fixed[0].toSorted()).toEqual(manifests.map(({ text }) => JSON.parse(text).name).toSorted())
})

test('every package carries the license of the workspace', () => {
  const license = files.find(({ path }) => path === 'LICENSE')?.text
  for (const { path } of manifests)
    expect(files.find((file) => file.path === path.replace('package.json', 'LICENSE'))?.text, path).toBe(license)
})

test.each([
  ['store-sql', 'kysely'],
  ['console', 'uplot'],
])('%s carries the license of %s, which its files contain', (folder, contained) => {
  const carried = files.find(({ path }) => path === `packages/${folder}/THIRD-PARTY-LICENSES`)?.text
  expect(carried).toContain(readFileSync(join(root, 'node_modules', contained, 'LICENSE'), 'utf8'))
})

// The public names, as `npm run packages` records them.

type Entries = Record<string, { readonly values: readonly string[]; readonly types: readonly string[] }>
const snapshot = readFileSync(join(import.meta.dirname, 'public-api.snapshot.json'), 'utf8')
const api = JSON.parse(snapshot) as Record<string, Entries>

/** Entries that export a name, such as `core/ports`. */
const entriesByName = new Map<string, string[]>()
for (const [name, entries] of Object.entries(api))
  for (const [entry, { values, types }] of Object.entries(entries))
    for (const each of new Set([...values, ...types])) {
      const entries = entriesByName.get(each) ?? []
      entriesByName.set(each, [...entries, `${name.replace('@payment-integration/', '')}${entry.slice(1)}`])
    }

/** An integrator installs only the client, so it re-exports the wire types of its signatures. */
const passedOn = ['client', 'contract']
/** The client has amounts at a separate subpath; both the contract and the dependency-free verifier export headers. */
const inTwo = new Set(['Amount', 'integrationHeader', 'signatureHeader'])

/** An error of the core has the same name in the client, which rejects with it on the other side of the wire. */
const isSharedError = (name: string, entries: readonly string[]) =>
  name.endsWith('Error') && /^client,core(\/identity)?$/.test(entries.join())

/** Fastify calls this plugin itself, so it is no factory. */
const plugin = 'fastifyReceiver'

describe('a public name', () => {
  test('is exported by one entry of one package', () => {
    const repeated = [...entriesByName].filter(
      ([name, entries]) =>
        entries.length > 1 && !inTwo.has(name) && entries.join() !== passedOn.join() && !isSharedError(name, entries),
    )
    expect(repeated.map(([name, entries]) => `${name}: ${entries.join(', ')}`)).toEqual([])
  })

  test('is what examples and documents import, never a name of an internal entry', () => {
    const examples = files.filter(({ path }) => /^(?!\.changeset\/)(examples\/.*\.m?[jt]sx?|.*\.md)$/.test(path))
    const internal = /@payment-integration\/[\w-]+\/internal/
    expect(examples.length).toBeGreaterThan(100)
    expect(examples.filter(({ text }) => internal.test(text)).map(({ path }) => path)).toEqual([])
  })

  test('of any factory begins with create', () => {
    const nounFunction =
      /^(?!create|start|open|parse|read)[a-z]\w*(Store|Handler|Receiver|Verifier|Client|Service|Chain|Sender)$/
    expect([...entriesByName.keys()].filter((name) => name !== plugin && nounFunction.test(name))).toEqual([])
  })
})
