import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { listenApp } from '../../test/support/listening-app.js'
import { parseRaw, requestText, sendRaw } from '../../test/support/raw-http.js'
import { type ReferenceFile, readReferenceFile, referenceFiles } from './reference-files.js'

let server: Awaited<ReturnType<typeof listenApp>>
beforeAll(async () => {
  server = await listenApp()
})
afterAll(() => server.stop())

const files: readonly (readonly [path: string, type: string])[] = [
  ['/openapi.json', 'application/json'],
  ['/reference', 'text/html; charset=utf-8'],
  ['/reference/page.css', 'text/css; charset=utf-8'],
  ['/reference/page.js', 'text/javascript; charset=utf-8'],
  ...Object.entries(referenceFiles).map(([name, type]) => [`/reference/${name}`, type] as const),
]

describe.each(files)('%s', (path, type) => {
  it('is served to anybody, may be kept, and is asked about before each use', async () => {
    const answer = await fetch(`${server.url}${path}`)
    const { length } = await answer.text()
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type])
    expect([answer.headers.get('cache-control'), answer.headers.get('x-content-type-options')]).toEqual([
      'no-cache',
      'nosniff',
    ])
    expect(length).toBeGreaterThan(50)
  })

  it('is 304 to who has it, and whole to who has another', async () => {
    const { headers } = await fetch(`${server.url}${path}`, { method: 'HEAD' })
    const tag = headers.get('etag') ?? ''
    expect(tag).toMatch(/^"[\w-]{43}"$/)
    const ask = async (known: string) => {
      // A real cache stands between a fetch and its server; bytes of our own have none.
      const answer = parseRaw(await sendRaw(server.url, requestText(path, [`If-None-Match: ${known}`])))
      return [answer.status, answer.headers.get('etag'), answer.headers.get('cache-control')]
    }
    expect(await ask(tag)).toEqual([304, tag, 'no-cache'])
    expect(await ask('"another"')).toEqual([200, tag, 'no-cache'])
  })

  it('is 405 for other methods, and not kept then', async () => {
    const answer = await fetch(`${server.url}${path}`, { method: 'POST' })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
  })
})

describe('the reference page', () => {
  it('may load from its own server and ask it, and nothing else', async () => {
    const { headers } = await fetch(`${server.url}/reference`)
    expect(headers.get('content-security-policy')?.split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data:",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ])
    expect(headers.get('referrer-policy')).toBe('no-referrer')
  })

  it('names no other host, no inline script and no inline style', async () => {
    const page = await (await fetch(`${server.url}/reference`)).text()
    expect(page).not.toMatch(/https?:|\/\/|<style|style=|\son\w+=|<script>/)
  })

  it.each(['swagger-ui.css', 'swagger-ui-bundle.js'])('%s names no source map, which is not there', async (name) => {
    const text = await (await fetch(`${server.url}/reference/${name}`)).text()
    expect(text).not.toContain('sourceMappingURL')
  })
})

describe.each([
  ['/', '/reference'],
  ['/reference/', '/reference'],
  ['/?x=1', '/reference'],
])('%s', (path, page) => {
  it(`leads to ${page}, from below a prefix to the page below it, and carries nothing along`, async () => {
    for (const method of ['GET', 'HEAD']) {
      const answer = await fetch(`${server.url}${path}`, { method, redirect: 'manual' })
      const way = answer.headers.get('location') ?? ''
      expect([answer.status, answer.headers.get('cache-control'), await answer.text()]).toEqual([308, 'no-cache', ''])
      for (const base of [server.url, 'https://example.com/pay', 'https://example.com/a/b'])
        expect(new URL(way, `${base}${path}`).href).toBe(`${base}${page}`)
    }
  })

  it('is 405 for other methods, and not kept then', async () => {
    const answer = await fetch(`${server.url}${path}`, { method: 'POST' })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
  })
})

describe('files beside the page', () => {
  it.each([
    '/reference/package.json',
    '/reference/swagger-ui.js',
    '/reference/swagger-ui.css.map',
    '/reference/..%2fpackage.json',
    '/reference/..%5cpackage.json',
    '/reference/....//package.json',
    '/reference//',
    '/reference//etc/passwd',
    '/reference/swagger-ui.css/',
    '/reference/swagger-ui.css%00.png',
    '/reference/SWAGGER-UI.CSS',
    '/reference/__proto__',
    '/reference/constructor',
  ])('are not there: %s is 404', async (path) => {
    const answer = parseRaw(await sendRaw(server.url, requestText(path)))
    expect([answer.status, answer.body]).toEqual([404, '{"error":"Not found"}'])
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
  })

  it.each(['/reference/../package.json', '/reference/%2e%2e/%2e%2e/package.json', '/reference/.%2E/.%2E/etc/passwd'])(
    'are not reached by climbing: %s is refused',
    async (path) => {
      const { status, headers, body } = parseRaw(await sendRaw(server.url, requestText(path)))
      expect([400, 404]).toContain(status)
      expect([headers.get('content-type'), JSON.parse(body)]).toEqual([
        'application/json',
        { error: expect.any(String) },
      ])
    },
  )
})

test('the build copies every file that is served, and the licence, to where the page finds them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'payment-integration-reference-'))
  try {
    const script = new URL('../../scripts/copy-reference.mjs', import.meta.url).pathname
    await promisify(execFile)(process.execPath, [script, folder])
    expect((await readdir(folder)).sort()).toEqual([...Object.keys(referenceFiles), 'LICENSE', 'NOTICE'].sort())
    for (const name of Object.keys(referenceFiles) as ReferenceFile[])
      expect((await readReferenceFile(name, folder)).equals(await readReferenceFile(name))).toBe(true)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
