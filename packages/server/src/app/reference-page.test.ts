import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { listenApp, listenTempApp } from '../../test/support/listening-app.js'
import { parseRaw, requestText, sendRaw } from '../../test/support/raw-http.js'
import { type ReferenceFile, readReferenceFile, referenceFiles } from './reference-page.js'

/** Advances with each request, so that no answer is cached. */
let now = 0
let server: Awaited<ReturnType<typeof listenApp>>
beforeAll(async () => {
  server = await listenApp({ reference: true, clock: { now: () => (now += 1_000) } })
})
afterAll(() => server.stop())

const files: readonly (readonly [path: string, type: string])[] = [
  ['/openapi.json', 'application/json'],
  ['/reference', 'text/html; charset=utf-8'],
  ['/reference/page.css', 'text/css; charset=utf-8'],
  ['/reference/page.js', 'text/javascript; charset=utf-8'],
  ...Object.entries(referenceFiles).map(([name, type]) => [`/reference/${name}`, type] as const),
]

it.each(files)('%s is public, revalidated before each use, and 304 for a matching tag alone', async (path, type) => {
  const { status, headers } = await fetch(`${server.url}${path}`)
  const names = ['content-type', 'cache-control', 'x-content-type-options']
  expect([status, ...names.map((name) => headers.get(name))]).toEqual([200, type, 'no-cache', 'nosniff'])
  const tag = headers.get('etag') ?? ''
  expect(tag).toMatch(/^"[\w-]{43}(-gzip)?"$/)
  const ask = async (known: string) => {
    // `fetch` may use a cache; raw bytes do not.
    const conditions = ['Accept-Encoding: gzip', `If-None-Match: ${known}`]
    const answer = parseRaw(await sendRaw(server.url, requestText(path, conditions)))
    return [answer.status, ...['etag', 'cache-control', 'vary'].map((name) => answer.headers.get(name))]
  }
  for (const known of [tag, `W/${tag}`, `"another", ${tag}`, '*'])
    expect(await ask(known)).toEqual([304, tag, 'no-cache', 'Accept-Encoding'])
  expect(await ask('"another"')).toEqual([200, tag, 'no-cache', 'Accept-Encoding'])
})

describe('compression', () => {
  const ask = async (header: string | null, path = '/openapi.json') => {
    const answer = await sendRaw(server.url, requestText(path, header === null ? [] : [`Accept-Encoding: ${header}`]))
    const { headers, body } = parseRaw(answer)
    return { coding: headers.get('content-encoding'), tag: headers.get('etag'), bytes: Buffer.from(body, 'latin1') }
  }

  it('applies to clients that accept gzip: the same content under its own tag, a fraction as long', async () => {
    const [whole, packed] = [await ask(null), await ask('gzip, deflate, br')]
    expect([whole.coding, packed.coding]).toEqual([undefined, 'gzip'])
    expect(gunzipSync(packed.bytes).equals(whole.bytes)).toBe(true)
    expect(packed.tag).toBe(whole.tag?.replace(/"$/, '-gzip"'))
    expect(whole.bytes.length / packed.bytes.length).toBeGreaterThan(5)
  })

  it.each(['identity', 'br', 'gzip;q=0', 'gzip; q=0.000', 'xgzip', `${'br,'.repeat(100)}gzip`])(
    'does not apply for %s',
    async (header) => expect((await ask(header)).coding).toBeUndefined(),
  )
})

it('a file that the page loads has the version of its content in its URL, and is cached for ever under it', async () => {
  const page = await (await fetch(`${server.url}/reference`)).text()
  const addresses = [...page.matchAll(/"\.(\/reference\/[^"]+)"/g)].map(([, address = '']) => address)
  expect(addresses).toHaveLength(5)
  for (const address of addresses) {
    expect(address).toMatch(/^\/reference\/[\w.-]+\?v=[\w-]{16}$/)
    const { status, headers } = await fetch(`${server.url}${address}`)
    expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable'])
  }
})

describe('the reference page', () => {
  it('is served only when enabled, but the document always', async () => {
    const off = await listenTempApp()
    for (const path of ['/', '/reference', '/reference/', ...files.slice(1).map(([file]) => file)]) {
      const answer = await fetch(`${off.url}${path}`, { redirect: 'manual' })
      expect([path, answer.status, await answer.text()]).toEqual([path, 404, '{"error":"Not found"}'])
    }
    expect((await fetch(`${off.url}/openapi.json`)).status).toBe(200)
  })

  it('may load from its own server and send requests to it, and nothing else', async () => {
    const { headers } = await fetch(`${server.url}/reference`)
    expect(headers.get('content-security-policy')?.split('; ')).toEqual([
      ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:"],
      ...["connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
    ])
    expect(headers.get('referrer-policy')).toBe('no-referrer')
  })
})

it.each(['/', '/reference/', '/?x=1'])(
  '%s redirects to /reference, also below a prefix, and drops the query',
  async (path) => {
    for (const method of ['GET', 'HEAD']) {
      const answer = await fetch(`${server.url}${path}`, { method, redirect: 'manual' })
      const way = answer.headers.get('location') ?? ''
      expect([answer.status, answer.headers.get('cache-control'), await answer.text()]).toEqual([308, 'no-cache', ''])
      for (const base of [server.url, 'https://example.com/pay', 'https://example.com/a/b'])
        expect(new URL(way, `${base}${path}`).href).toBe(`${base}/reference`)
    }
  },
)

it.each([
  ...['/reference/package.json', '/reference/swagger-ui.js', '/reference/swagger-ui.css.map'],
  ...['/reference/..%2fpackage.json', '/reference/..%5cpackage.json', '/reference/....//package.json'],
  ...['/reference//', '/reference//etc/passwd', '/reference/swagger-ui.css/', '/reference/swagger-ui.css%00.png'],
  ...['/reference/SWAGGER-UI.CSS', '/reference/__proto__', '/reference/constructor'],
])('a file beside the page is not there: %s is 404', async (path) => {
  const answer = parseRaw(await sendRaw(server.url, requestText(path)))
  expect([answer.status, answer.body]).toEqual([404, '{"error":"Not found"}'])
  expect(answer.headers.get('cache-control')).toBe('private, no-store')
})

test('the build copies every served file and the license to the folder of the page', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'payment-integration-reference-'))
  try {
    const script = new URL('../../scripts/copy-reference.mjs', import.meta.url).pathname
    execFileSync(process.execPath, [script, folder])
    expect((await readdir(folder)).sort()).toEqual([...Object.keys(referenceFiles), 'LICENSE', 'NOTICE'].sort())
    for (const name of Object.keys(referenceFiles) as ReferenceFile[])
      expect((await readReferenceFile(name, folder)).equals(await readReferenceFile(name))).toBe(true)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
