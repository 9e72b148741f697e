import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { MissingPackageError } from '../errors.js'
import { loadPackage } from './runtime.js'

/** Below `node_modules` imports and errors are Node's own: a program, and a package with a missing dependency. */
const folder = mkdtempSync(join(tmpdir(), 'packages-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const broken = join(folder, 'node_modules/@scope/broken')
mkdirSync(broken, { recursive: true })
writeFileSync(join(broken, 'package.json'), '{ "name": "@scope/broken", "type": "module", "exports": "./index.js" }')
writeFileSync(join(broken, 'index.js'), "import '@scope/broken-inside'\n")
const names = ['@scope/absent', '@scope/absent/entry', '@scope/broken', '@scope/broken/entry']
const program = join(folder, 'node_modules/program.mjs')
writeFileSync(program, `export const load = { ${names.map((name) => `'${name}': () => import('${name}')`)} }\n`)
const { load } = await import(pathToFileURL(program).href)

test.each(['@scope/absent', '@scope/absent/entry'])('a missing %s is reported with the install line', async (entry) => {
  const error = await loadPackage('@scope/absent', 'PI_CHAIN_FEED_URL', load[entry]).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(MissingPackageError)
  expect(error).toMatchObject({
    code: 'ERR_PACKAGE_MISSING',
    packageName: '@scope/absent',
    setting: 'PI_CHAIN_FEED_URL',
    message:
      'PI_CHAIN_FEED_URL needs the package @scope/absent, which is not installed. Run: npm install @scope/absent',
  })
})

test('a package that is missing inside of the loaded one passes through, also with a name that begins alike', async () => {
  const thrown = await load['@scope/broken']().catch((error: unknown) => error)
  expect(thrown).toMatchObject({ code: 'ERR_MODULE_NOT_FOUND' })
  await expect(loadPackage('@scope/broken', 'PI_CHAIN_FEED_URL', load['@scope/broken'])).rejects.toMatchObject({
    code: 'ERR_MODULE_NOT_FOUND',
    message: expect.stringContaining("Cannot find package '@scope/broken-inside'"),
  })
})

test('an error besides a missing package passes through, and so does the loaded module', async () => {
  await expect(loadPackage('@scope/broken', 'PI_CHAIN_FEED_URL', load['@scope/broken/entry'])).rejects.toMatchObject({
    code: 'ERR_PACKAGE_PATH_NOT_EXPORTED',
  })
  await expect(loadPackage('x', 'PI_CHAIN_FEED_URL', async () => 'loaded')).resolves.toBe('loaded')
})
