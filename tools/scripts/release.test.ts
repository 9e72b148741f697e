/** What a release carries: its bill of materials, its licenses, its provenance. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import { expect, test } from 'vitest'
import { makeFolder } from './test/check-folder.js'

interface Dependency extends Readonly<Record<'name' | 'version' | 'license' | 'folder', string>> {
  readonly needs: readonly string[]
}
type Dependencies = ReadonlyMap<string, Dependency>

/** The modules of `npm run release:check`, which need no build. */
const { getDependencies, findLicenseProblems, buildProvenance, buildBillOfMaterials } = Object.assign(
  {},
  ...(await Promise.all(
    ['dependencies', 'licenses', 'provenance', 'sbom'].map((name) => import(`./release/${name}.mjs`)),
  )),
) as {
  getDependencies(root: string, folders: readonly string[]): Promise<Dependencies>
  findLicenseProblems(dependencies: Iterable<Dependency>): string[]
  buildProvenance(facts: object): Promise<string>
  buildBillOfMaterials(dependencies: Dependencies, release: { readonly name: string; readonly version: string }): string
}

const root = join(import.meta.dirname, '../..')
const release = { name: 'payment-integration', version: '0.2.0' }

test('the bill of materials fits the schema of CycloneDX 1.6 and lists what an installation brings and a build contains', async () => {
  const dependencies = await getDependencies(root, ['client', 'store-sql', 'server'])
  const text = buildBillOfMaterials(dependencies, release)
  const bom = JSON.parse(text)
  const manifest = createRequire(import.meta.url).resolve('@cyclonedx/cyclonedx-library/package.json')
  const getPath = (name: string) => join(dirname(manifest), 'res/schema', `${name}.SNAPSHOT.schema.json`)
  const schema = async (name: string) => JSON.parse(await readFile(getPath(name), 'utf8'))
  // The schema also has formats for international addresses, which none of ours is.
  const ajv = new Ajv({ strict: false, formats: { 'iri-reference': true, 'idn-email': true } })
  formats.default(ajv)
  for (const name of ['spdx', 'jsf-0.82', 'cryptography-defs'])
    ajv.addSchema({ ...(await schema(name)), $id: `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json` })
  const validate = ajv.compile(await schema('bom-1.6'))
  expect(validate(bom), JSON.stringify(validate.errors)).toBe(true)
  const names = bom.components.map(({ name }: { name: string }) => name)
  expect(names).toEqual(expect.arrayContaining(['@payment-integration/contract', 'zod', 'undici', 'kysely', 'pg']))
  expect(names).not.toContain('vitest')
  const store = bom.dependencies.find(({ ref }: { ref: string }) => ref.startsWith('@payment-integration/store-sql@'))
  expect(store.dependsOn.some((ref: string) => ref.startsWith('kysely@'))).toBe(true)
  expect(buildBillOfMaterials(await getDependencies(root, ['client', 'store-sql', 'server']), release)).toBe(text)
})

test('a license that asks for more than its notice is rejected; of a choice one accepted license suffices', () => {
  const of = (license: string) => ({ name: 'x', version: '1.0.0', license, folder: '', needs: [] })
  expect(findLicenseProblems([of('MIT'), of('(MIT OR GPL-3.0-only)'), of('Apache-2.0')])).toEqual([])
  expect(findLicenseProblems([of('LGPL-3.0-or-later'), of('none')])).toEqual([
    'x@1.0.0 has the license LGPL-3.0-or-later',
    'x@1.0.0 has the license none',
  ])
})

test('no package brings a license that is rejected', async () => {
  const folders = ['client', 'webhook', 'version-store', 'mirror', 'identity-sumsub', 'testing', 'server', 'cli']
  expect(findLicenseProblems((await getDependencies(root, folders)).values())).toEqual([])
})

test('the provenance names each tarball with its digest, the commit and the lock file', async () => {
  const folder = makeFolder({ 'a-1.0.0.tgz': 'abc' })
  const facts = { repository: 'https://code.example/o/r', commit: 'c'.repeat(40), lockDigest: 'd'.repeat(64) }
  const versions = { node: 'v20.0.0', npm: '10.0.0' }
  const statement = JSON.parse(await buildProvenance({ ...facts, tarballs: [join(folder, 'a-1.0.0.tgz')], versions }))
  expect(statement.subject).toEqual([
    { name: 'a-1.0.0.tgz', digest: { sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad' } },
  ])
  expect(statement.predicate.buildDefinition.resolvedDependencies).toEqual([
    { uri: 'git+https://code.example/o/r', digest: { gitCommit: 'c'.repeat(40) } },
    { name: 'package-lock.json', digest: { sha256: 'd'.repeat(64) } },
  ])
  const [, builder = ''] = statement.predicate.runDetails.builder.id.split('https://code.example/o/r/blob/main/')
  expect(await readFile(join(root, builder), 'utf8')).toContain('Checks a release')
})
