import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { MissingPackageError } from '../errors.js'
import { createMonotonicClock, loadPackage, readRequestBody, systemClock } from './runtime.js'

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

/** A request whose body has 100 kB, and the number of pieces that were read of it. */
function long(declared: string) {
  let pieces = 0
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      pieces += 1
      if (pieces > 1_000) controller.close()
      else controller.enqueue(new Uint8Array(100))
    },
  })
  const headers = { 'content-length': declared }
  const init: RequestInit & { duplex: 'half' } = { method: 'POST', body, headers, duplex: 'half' }
  return { request: new Request('https://pay.example/', init), pieces: () => pieces }
}

test.each(['0x10', '', '1, 2', '-1', '1e1'])('a body declared as %j is read up to the cap', async (declared) => {
  const { request, pieces } = long(declared)
  await expect(readRequestBody(request, 1_000)).rejects.toMatchObject({ code: 'ERR_BODY_TOO_LARGE' })
  expect(pieces()).toBeLessThan(20)
})

test('a body over the cap is rejected although it declares less', async () => {
  await expect(readRequestBody(long('5').request, 1_000)).rejects.toMatchObject({ code: 'ERR_BODY_TOO_LARGE' })
})

test('a steady clock stands still where its clock is set back, and then goes on', () => {
  let now = 1_000
  const clock = createMonotonicClock({ now: () => now })
  const seen = [1_000, 1_500, 200, 300, 100, 2_000].map((at) => {
    now = at
    return clock.now()
  })
  expect(seen).toEqual([1_000, 1_500, 1_500, 1_600, 1_600, 3_500])
})

test('a sleep beyond the longest timer is not over at once', async () => {
  const stop = new AbortController()
  const sleep = systemClock.sleep(2 ** 31, stop.signal).then(() => 'over')
  expect(await Promise.race([sleep, systemClock.sleep(20).then(() => 'pending')])).toBe('pending')
  stop.abort()
})
