import { silentLogger } from '@payment-integration/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chosenService, goodAuthorization, withReads } from '../../test/support/integration-service.js'
import { listenApp } from '../../test/support/listening-app.js'
import { parseRaw, requestText, sendRaw } from '../../test/support/raw-http.js'
import { eventually } from '../../test/support/tcp-server.js'
import { ListenError, listenHttp } from './http-server.js'
import { createRequestListener } from './request-listener.js'

let server: Awaited<ReturnType<typeof listenApp>>
beforeAll(async () => {
  server = await listenApp({ reference: true })
})
afterAll(() => server.stop())

describe('a target in absolute form', () => {
  it.each([
    ['http://localhost/health', 200],
    ['HTTP://other.example:8080/health?x=1', 200],
    ['https://[::1]/health', 200],
    ['http://a/x', 404],
    ['http://a', 308],
    ['http://a?x', 308],
  ])('%s is answered like its path, with %i', async (target, status) => {
    expect(parseRaw(await sendRaw(server.url, requestText(target))).status).toBe(status)
  })
})

describe('an unknown path', () => {
  it.each(['/x', '/api', '/api/v1/integrationx', '/health/x', '/favicon.ico'])('%s is 404', async (path) => {
    const answer = await fetch(`${server.url}${path}`)
    expect([answer.status, await answer.json()]).toEqual([404, { error: 'Not found' }])
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
  })
})

describe('listenHttp', () => {
  it('advises the operator when the port is in use', async () => {
    const { port } = new URL(server.url)
    const listening = listenHttp(
      { host: '127.0.0.1', port: Number(port) },
      await createRequestListener(server.app, silentLogger),
    )
    await expect(listening).rejects.toThrow(ListenError)
    await expect(listening).rejects.toThrow(/port \d+ \(EADDRINUSE\): another program listens there/)
  })

  it('writes an IPv6 address in brackets', async () => {
    const http = await listenHttp({ host: '::1', port: 0 }, await createRequestListener(server.app, silentLogger))
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
    const slow = withReads(service, {
      async listPayments() {
        asked++
        await held
        return { payments: [], nextCursor: null }
      },
    })
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
    // Otherwise its connection would stay open for the keep-alive time, or until the cut.
    expect(performance.now() - startedAt).toBeLessThan(60_000)
  })

  it('closes idle kept-alive connections without waiting for them', async () => {
    const app = await listenApp()
    await (await fetch(`${app.url}/health`)).text()
    const startedAt = performance.now()
    await app.stop()
    expect(performance.now() - startedAt).toBeLessThan(60_000)
  })

  it('cuts the remaining connections when its time is up, and may be called twice', async () => {
    const { app, asked } = await slowServer()
    const pending = request(app.url)
    pending.catch(() => undefined)
    await eventually(() => asked() === 1)
    const startedAt = performance.now()
    await Promise.all([app.stop(2_000), app.stop(2_000)])
    expect(performance.now() - startedAt).toBeLessThan(60_000)
    await expect(pending).rejects.toThrow()
  })
})
