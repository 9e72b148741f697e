import { expect, it } from 'vitest'
import { exchange } from '../../test/support/raw-exchange.js'
import { parseRaw, sendRaw } from '../../test/support/raw-http.js'
import { tempConfig } from '../../test/support/temp-config.js'
import { startServer } from './start-server.js'

it('metrics are served at their configured address, and nowhere else', async () => {
  const token = 'a-token-of-the-metrics'
  const authorization = `Bearer ${token}`
  const statuses = async (env: Record<string, string>) => {
    const made = await tempConfig(env)
    const running = await startServer(made.config)
    const { url, adminUrl } = running
    const metrics = adminUrl === null ? null : `${adminUrl}/metrics`
    const ask = async (at: string, headers = {}) => (await fetch(at, { headers })).status
    const found = {
      beside: [await ask(`${url}/metrics`), await ask(`${url}/metrics`, { authorization })],
      own: metrics === null ? [] : [await ask(metrics), await ask(metrics, { authorization })],
    }
    await running.stop()
    if (metrics !== null) await expect(fetch(metrics)).rejects.toThrow()
    await made.remove()
    return found
  }
  const [port, key] = [{ PI_ADMIN_PORT: '0' }, { PI_METRICS_TOKEN: token }]
  expect(await statuses({})).toEqual({ beside: [404, 404], own: [] })
  expect(await statuses(port)).toEqual({ beside: [404, 404], own: [200, 200] })
  expect(await statuses(key)).toEqual({ beside: [401, 200], own: [] })
  expect(await statuses({ ...port, ...key })).toEqual({ beside: [404, 404], own: [401, 200] })
})

it('a health check of HTTP/1.0 without Host, the default of HAProxy, is answered on both ports', async () => {
  const made = await tempConfig({ PI_ADMIN_PORT: '0' })
  const running = await startServer(made.config)
  const ask = async (url: string | null, path: string) =>
    parseRaw(await sendRaw(url ?? '', `GET ${path} HTTP/1.0\r\n\r\n`)).status
  const { url, adminUrl } = running
  expect([await ask(url, '/health/live'), await ask(url, '/api/v1/integration/payments')]).toEqual([200, 401])
  expect([await ask(adminUrl, '/ready'), await ask(adminUrl, '/live')]).toEqual([200, 200])
  await running.stop()
  await made.remove()
})

it('the configured limits are applied', async () => {
  const made = await tempConfig({ PI_LIMIT_FAILED_SIGN_INS: '1', PI_LIMIT_CONNECTIONS: '3' })
  const running = await startServer(made.config)
  const ask = async () => (await fetch(`${running.url}/api/v1/integration/payments`)).status
  expect([await ask(), await ask()]).toEqual([401, 429])
  const statuses = []
  for (let count = 0; count < 4; count += 1) {
    const connection = await exchange(running.url)
    connection.send('GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n')
    statuses.push((await connection.answers(1))[0]?.status)
  }
  // Up to two connections of those before may still be open.
  expect([statuses[0], statuses[3]]).toEqual([200, undefined])
  await running.stop()
  await made.remove()
})
