import { silentLogger } from '@payment-integration/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chosenService, goodAuthorization, heldReads } from '../../test/support/integration-service.js'
import { listenApp } from '../../test/support/listening-app.js'
import { exchange } from '../../test/support/raw-exchange.js'
import { parseRaw, requestText, sendRaw } from '../../test/support/raw-http.js'
import { eventually } from '../../test/support/tcp-server.js'
import { listenHttp } from './http-server.js'
import { createRequestListener } from './request-listener.js'

let server: Awaited<ReturnType<typeof listenApp>>
beforeAll(async () => {
  server = await listenApp({ reference: true })
})
afterAll(() => server.stop())

it.each([
  ['http://localhost/health', 200],
  ['HTTP://other.example:8080/health?x=1', 200],
  ['http://a/x', 404],
  ['http://a', 308],
  ['http://a?x', 308],
])('the absolute target %s is answered like its path, with %i', async (target, status) => {
  expect(parseRaw(await sendRaw(server.url, requestText(target))).status).toBe(status)
})

it.each(['/x', '/api', '/api/v1/integrationx', '/health/x', '/favicon.ico'])('%s is 404', async (path) => {
  const answer = await fetch(`${server.url}${path}`)
  expect([answer.status, await answer.json()]).toEqual([404, { error: 'Not found' }])
  expect(answer.headers.get('cache-control')).toBe('private, no-store')
})

it('the URL of a server has an IPv6 address in brackets', async () => {
  const http = await listenHttp({ host: '::1', port: 0 }, await createRequestListener(server.app, silentLogger))
  expect(http.url).toMatch(/^http:\/\/\[::1\]:\d+$/)
  await http.stop(AbortSignal.timeout(1_000))
})

describe('a stop', () => {
  async function slowServer() {
    const { service, ...held } = heldReads(chosenService())
    return { app: await listenApp({ service }), ...held }
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
    expect((await pending).status).toBe(200)
    await stopped
  })

  it('cuts the remaining connections when its time is up, and may be called twice', async () => {
    const { app, asked } = await slowServer()
    const pending = request(app.url)
    pending.catch(() => undefined)
    await eventually(() => asked() === 1)
    await Promise.all([app.stop(2_000), app.stop(2_000)])
    await expect(pending).rejects.toThrow()
  })

  const half = 'GET /health/live HTTP/1.1\r\nHost: '
  const whole = `${half}a\r\n\r\n`
  it.each([
    ['that sent nothing', '', ''],
    ['that sent half of a request', '', half],
    ['that is kept alive', whole, ''],
    ['that is kept alive and sent half of its next request', whole, half],
  ])('does not wait for a connection %s', async (_, first, second) => {
    const app = await listenApp()
    // Connections and bytes arrive in order, so a later answer proves that earlier bytes have arrived.
    const arrived = async () => void (await (await fetch(`${app.url}/health/live`)).text())
    const connection = await exchange(app.url)
    await arrived()
    connection.send(first)
    await eventually(() => first === '' || connection.rest().endsWith('{"status":"ok"}'))
    connection.send(second)
    await arrived()
    await app.stop()
    await connection.closed
  })

  it('lets a request finish that is still arriving', async () => {
    const app = await listenApp()
    const connection = await exchange(app.url)
    await (await fetch(`${app.url}/health/live`)).text()
    connection.send(whole)
    await app.stop()
    await connection.closed
    expect(connection.rest()).toMatch(/^HTTP\/1\.1 200 .*\{"status":"ok"\}$/s)
  })
})
