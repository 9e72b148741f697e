import { silentLogger } from '@payment-integration/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chosenService, goodAuthorization } from '../../test/support/integration-service.js'
import { listenApp } from '../../test/support/listening-app.js'
import { parseRaw, requestText, sendRaw } from '../../test/support/raw-http.js'
import { eventually } from '../../test/support/tcp-server.js'
import { ListenError, listenHttp } from './http-server.js'
import { createRequestListener } from './request-listener.js'

const globalsBefore = { Request: globalThis.Request, Response: globalThis.Response }
let server: Awaited<ReturnType<typeof listenApp>>
beforeAll(async () => {
  server = await listenApp()
})
afterAll(() => server.stop())

describe('a hostile message', () => {
  const post = (headers: string, body = '') => `POST /x HTTP/1.1\r\nHost: a\r\n${headers}\r\n\r\n${body}`
  const cases: Readonly<Record<string, readonly [number, string]>> = {
    'both lengths': [400, post('Transfer-Encoding: chunked\r\nContent-Length: 5', '0\r\n\r\n')],
    'two lengths': [400, post('Content-Length: 1\r\nContent-Length: 2', 'ab')],
    'two equal lengths': [400, post('Content-Length: 1\r\nContent-Length: 1', 'a')],
    'a signed length': [400, post('Content-Length: +1', 'a')],
    'an unknown transfer encoding': [400, post('Transfer-Encoding: cow', 'a')],
    'a space before the colon': [400, 'GET /x HTTP/1.1\r\nHost : a\r\n\r\n'],
    'a folded header': [400, 'GET /x HTTP/1.1\r\nHost: a\r\n b\r\n\r\n'],
    'bare line feeds': [400, 'GET /x HTTP/1.1\nHost: a\n\n'],
    'a NUL in a header': [400, 'GET /x HTTP/1.1\r\nHost: a\r\nX: a\u0000b\r\n\r\n'],
    'no host': [400, 'GET /x HTTP/1.1\r\n\r\n'],
    'two hosts': [400, 'GET /x HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
    'two content types': [400, post('Content-Type: application/json\r\nContent-Type: text/plain\r\nContent-Length: 0')],
    'an absolute target of another scheme': [400, 'GET ftp://a/health HTTP/1.1\r\nHost: a\r\n\r\n'],
    'an absolute target without a host': [400, 'GET http:///health HTTP/1.1\r\nHost: a\r\n\r\n'],
    'an absolute target with a user': [400, 'GET http://a@b/health HTTP/1.1\r\nHost: a\r\n\r\n'],
    'an absolute target with a backslash': [400, 'GET http://a/health\\x HTTP/1.1\r\nHost: a\r\n\r\n'],
    'an absolute target and no host header': [400, 'GET http://a/health HTTP/1.1\r\n\r\n'],
    'a star target': [400, 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n'],
    'no version': [400, 'GET /health\r\n\r\n'],
    'version 2.0': [400, 'GET /health HTTP/2.0\r\nHost: a\r\n\r\n'],
    'a host that is none': [400, 'GET /health HTTP/1.1\r\nHost: a b\r\n\r\n'],
    'a host with a path': [400, 'GET /health HTTP/1.1\r\nHost: a/b\r\n\r\n'],
    'a backslash': [400, 'GET /health\\x HTTP/1.1\r\nHost: a\r\n\r\n'],
    garbage: [400, '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\r\n\r\n'],
    'headers above 8 KB': [431, `GET /x HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(9_000)}\r\n\r\n`],
    'more than 100 headers': [431, `GET /health HTTP/1.1\r\nHost: a\r\n${'X: a\r\n'.repeat(100)}\r\n`],
    'a target above 8 KB': [431, `GET /${'a'.repeat(9_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
  }
  it.each(Object.entries(cases))('with %s is refused as JSON and never cacheable', async (_, [status, text]) => {
    const answer = parseRaw(await sendRaw(server.url, text, { closeAfterMs: 2_000 }))
    expect(answer.status).toBe(status)
    expect(JSON.parse(answer.body)).toEqual({ error: expect.any(String) })
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
    expect(answer.headers.get('connection')?.toLowerCase()).not.toBe('keep-alive')
  })

  it.each([
    'CONNECT example.com:443 HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET /health HTTP/1.1\r\nHost: a\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
  ])('to open a tunnel opens none: %j', async (text) => {
    const answer = await sendRaw(server.url, text, { closeAfterMs: 300 })
    expect(answer).not.toMatch(/^HTTP\/1\.1 (101|2\d\d .*established)/i)
  })

  it('leaves the server answering', async () => {
    const answer = await fetch(`${server.url}/health`)
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'private, no-store'])
  })

  it('with an expectation that nobody knows is served: an expectation may be ignored', async () => {
    const answer = parseRaw(await sendRaw(server.url, requestText('/health', ['Expect: a-miracle'])))
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'private, no-store'])
  })

  it('of HTTP/1.0 is served when it is well formed', async () => {
    const answer = parseRaw(await sendRaw(server.url, 'GET /health HTTP/1.0\r\nHost: a\r\n\r\n'))
    expect(answer.status).toBe(200)
  })
})

describe('a target in absolute form', () => {
  it.each([
    ['http://localhost/health', 200],
    ['HTTP://other.example:8080/health?x=1', 200],
    ['https://[::1]/health', 200],
    ['http://a/x', 404],
    ['http://a', 404],
    ['http://a?x', 404],
  ])('%s is answered like its path, with %i', async (target, status) => {
    expect(parseRaw(await sendRaw(server.url, requestText(target))).status).toBe(status)
  })
})

describe('an unknown path', () => {
  it.each(['/', '/x', '/api', '/api/v1/integrationx', '/health/x', '/favicon.ico'])('%s is 404', async (path) => {
    const answer = await fetch(`${server.url}${path}`)
    expect([answer.status, await answer.json()]).toEqual([404, { error: 'Not found' }])
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
  })
})

describe('listenHttp', () => {
  it('says what to do when the port is taken', async () => {
    const { port } = new URL(server.url)
    const listening = listenHttp(
      { host: '127.0.0.1', port: Number(port) },
      createRequestListener(server.app, silentLogger),
    )
    await expect(listening).rejects.toThrow(ListenError)
    await expect(listening).rejects.toThrow(/port \d+ \(EADDRINUSE\): another program listens there/)
  })

  it('says what to do when the address is not of this machine', async () => {
    const listening = listenHttp({ host: '192.0.2.1', port: 0 }, createRequestListener(server.app, silentLogger))
    await expect(listening).rejects.toMatchObject({ code: 'ERR_LISTEN', message: expect.stringContaining('PI_HOST') })
  })

  it('writes an IPv6 address in brackets', async () => {
    const http = await listenHttp({ host: '::1', port: 0 }, createRequestListener(server.app, silentLogger))
    expect(http.url).toMatch(/^http:\/\/\[::1\]:\d+$/)
    await http.stop(AbortSignal.timeout(1_000))
  })
})

describe('a stop', () => {
  async function slowServer() {
    let release: () => void = () => undefined
    let asked = 0
    const service = chosenService()
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const slow = {
      ...service,
      payments: {
        ...service.payments,
        async list() {
          asked++
          await held
          return { payments: [], nextCursor: null }
        },
      },
    }
    const app = await listenApp({ service: slow })
    return { app, release: () => release(), asked: () => asked }
  }
  const request = (url: string) =>
    fetch(`${url}/api/v1/integration/payments`, { headers: { authorization: goodAuthorization } })

  it('lets a request in flight finish, and accepts no new connection', async () => {
    const { app, release, asked } = await slowServer()
    const pending = request(app.url)
    await eventually(() => asked() === 1)
    const stopped = app.stop()
    await expect(fetch(`${app.url}/health`)).rejects.toThrow()
    release()
    const startedAt = performance.now()
    expect((await pending).status).toBe(200)
    await stopped
    // Its connection would stay open for its keep-alive time, and until the cut, if nobody closed it.
    expect(performance.now() - startedAt).toBeLessThan(1_000)
  })

  it('closes idle kept-alive connections without waiting for them', async () => {
    const app = await listenApp()
    await (await fetch(`${app.url}/health`)).text()
    const startedAt = performance.now()
    await app.stop()
    expect(performance.now() - startedAt).toBeLessThan(1_000)
  })

  it('cuts what is left when its time is up, and may be asked for twice', async () => {
    const { app, asked } = await slowServer()
    const pending = request(app.url)
    pending.catch(() => undefined)
    await eventually(() => asked() === 1)
    const startedAt = performance.now()
    await Promise.all([app.stop(), app.stop()])
    expect(performance.now() - startedAt).toBeLessThan(4_000)
    await expect(pending).rejects.toThrow()
  })
})

it('listening leaves the globals of the host as they were', () => {
  expect([globalThis.Request === globalsBefore.Request, globalThis.Response === globalsBefore.Response]).toEqual([
    true,
    true,
  ])
})

it('a request text of the tests is what it says', async () => {
  expect(parseRaw(await sendRaw(server.url, requestText('/health/live'))).body).toBe('{"status":"ok"}')
})
