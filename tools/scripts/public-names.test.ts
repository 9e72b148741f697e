/** House rules about the public names, as `npm run packages` records them. @module */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

type Entries = Record<string, { readonly values: readonly string[]; readonly types: readonly string[] }>
const path = join(import.meta.dirname, 'public-api.snapshot.json')
const api = JSON.parse(readFileSync(path, 'utf8')) as Record<string, Entries>

/** Entries that export a name, such as `core/ports`. */
const entriesByName = new Map<string, string[]>()
for (const [name, entries] of Object.entries(api))
  for (const [entry, { values, types }] of Object.entries(entries))
    for (const each of new Set([...values, ...types])) {
      const known = entriesByName.get(each) ?? []
      entriesByName.set(each, [...known, `${name.replace('@payment-integration/', '')}${entry.slice(1)}`])
    }

/** An integrator installs only the client, so it re-exports the wire types of its signatures. */
const passedOn = ['client', 'contract']
/**
 * The client exports amounts at a separate subpath. Both the contract and the dependency-free verifier export headers.
 */
const inTwo = new Set(['Amount', 'integrationHeader', 'signatureHeader'])

/** Fastify calls this plugin itself, so it is no factory. */
const plugin = 'fastifyReceiver'

describe('a public name', () => {
  test('is exported by one entry of one package', () => {
    const repeated = [...entriesByName].filter(
      ([name, entries]) => entries.length > 1 && !inTwo.has(name) && entries.join() !== passedOn.join(),
    )
    expect(repeated.map(([name, entries]) => `${name}: ${entries.join(', ')}`)).toEqual([])
  })

  test('is what examples and documents import, never a name of an internal entry', () => {
    const root = join(import.meta.dirname, '../..')
    const listed = execFileSync('git', ['ls-files', '-z', 'examples', '*.md'], { cwd: root, encoding: 'utf8' })
    const files = listed.split('\0').filter((file) => /\.(md|m?[jt]sx?)$/.test(file) && !file.startsWith('.changeset/'))
    const internal = /@payment-integration\/[\w-]+\/internal/
    expect(files.length).toBeGreaterThan(100)
    expect(files.filter((file) => internal.test(readFileSync(join(root, file), 'utf8')))).toEqual([])
  })

  test('of any factory begins with create', () => {
    const made =
      /^(?!create|start|open|parse|read)[a-z]\w*(Store|Handler|Receiver|Verifier|Client|Service|Chain|Sender)$/
    expect([...entriesByName.keys()].filter((name) => name !== plugin && made.test(name))).toEqual([])
  })
})
