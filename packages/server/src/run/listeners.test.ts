import { expect, it } from 'vitest'
import { exchange } from '../../test/support/raw-exchange.js'
import { parseRaw, sendRaw } from '../../test/support/raw-http.js'
import { startTempServer } from '../../test/support/temp-server.js'

const token = 'a-token-of-the-metrics'
const [port, key] = [{ PI_ADMIN_PORT: '0' }, { PI_METRICS_TOKEN: token }]

it.each([
  [{}, [404, 404], []],
  [port, [404, 404], [200, 200]],
  [key, [401, 200], []],
  [{ ...port, ...key }, [404, 404], [401, 200]],
])('with %j metrics are at their configured address, and nowhere else', async (env, beside, own) => {
  const { url, adminUrl, stop } = await startTempServer(env)
  const ask = async (base: string) => {
    const statuses = [{}, { authorization: `Bearer ${token}` }].map((headers) => fetch(`${base}/metrics`, { headers }))
    return (await Promise.all(statuses)).map(({ status }) => status)
  }
  expect([await ask(url), adminUrl === null ? [] : await ask(adminUrl)]).toEqual([beside, own])
  await stop()
  if (adminUrl !== null) await expect(fetch(`${adminUrl}/metrics`)).rejects.toThrow()
})

it('a health check of HTTP/1.0 without Host, the default of HAProxy, is answered on the admin port', async () => {
  const { adminUrl } = await startTempServer(port)
  const ask = async (path: string) => parseRaw(await sendRaw(adminUrl ?? '', `GET ${path} HTTP/1.0\r\n\r\n`)).status
  expect([await ask('/ready'), await ask('/live')]).toEqual([200, 200])
})

it('the configured limits are applied', async () => {
  const { url } = await startTempServer({ PI_LIMIT_FAILED_SIGN_INS: '1', PI_LIMIT_CONNECTIONS: '3' })
  const ask = async () => (await fetch(`${url}/api/v1/integration/payments`)).status
  expect([await ask(), await ask()]).toEqual([401, 429])
  const statuses = []
  for (let count = 0; count < 4; count += 1) {
    const connection = await exchange(url)
    connection.send('GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n')
    statuses.push((await connection.answers(1))[0]?.status)
  }
  // Up to two connections of those before may still be open.
  expect([statuses[0], statuses[3]]).toEqual([200, undefined])
})
