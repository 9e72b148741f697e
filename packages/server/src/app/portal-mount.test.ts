/** The portal inside the reference server. */
import { connect } from 'node:net'
import { silentLogger } from '@payment-integration/core'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { tempConfig } from '../../test/support/temp-config.js'
import { type RunningServer, startServer } from '../run/start-server.js'

const token = 'a-token-of-the-metrics'
const address = `0x${'11'.repeat(20)}`
let server: RunningServer
let remove: () => Promise<void>
beforeAll(async () => {
  const made = await tempConfig({ PI_PORTAL: 'on', PI_METRICS_TOKEN: token })
  remove = made.remove
  server = await startServer(made.config)
})
afterAll(async () => {
  await server?.stop()
  await remove?.()
})

const post = (path: string, fields: Record<string, string>, headers: Record<string, string>) =>
  fetch(`${server.url}${path}`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams(fields),
    headers: { Origin: server.url, ...headers },
  })

it('an integration signs in with its API secret and sees its own page, without the console', async () => {
  const { apiSecret } = await server.service.integrations.create({ address })
  const opened = await post('/portal/sign-in', { address, secret: apiSecret }, {})
  expect(opened.status).toBe(303)
  const [cookie = ''] = opened.headers.getSetCookie()
  const page = await fetch(`${server.url}/portal`, { headers: { Cookie: cookie.split(';')[0] ?? '' } })
  const text = await page.text()
  expect([page.status, text.includes(address), text.includes(`${server.url}/api/v1/integration/payments`)]).toEqual([
    200,
    true,
    true,
  ])
  expect((await fetch(`${server.url}/console`)).status).toBe(404)
})

it('a form of another site is answered 403', async () => {
  expect((await post('/portal/sign-in', {}, { Origin: 'https://evil.example' })).status).toBe(403)
})

it('sign-ins count in the limit of the caller: beyond it no session is opened and nothing is recorded', async () => {
  const made = await tempConfig({ PI_PORTAL: 'on', PI_LIMIT_PER_CALLER: '1' })
  const own = await startServer(made.config)
  const { apiSecret } = await own.service.integrations.create({ address })
  const body = () => new URLSearchParams({ address, secret: apiSecret })
  const signIn = () =>
    fetch(`${own.url}/portal/sign-in`, {
      method: 'POST',
      redirect: 'manual',
      body: body(),
      headers: { Origin: own.url },
    })
  const answers = await Promise.all(Array.from({ length: 60 }, signIn))
  const limited = answers.filter(({ status }) => status === 429)
  expect(limited.length).toBeGreaterThan(0)
  expect(limited[0]?.headers.get('retry-after')).toBe('1')
  const records = await own.service.audit.list({ limit: 100 })
  const signedIn = records.filter(({ action }) => action === 'integration.signed_in')
  expect(signedIn).toHaveLength(60 - limited.length)
  await own.stop()
  await made.remove()
})

it.each([
  ['of a declared length', 'Content-Length: 100', 'address='],
  ['in chunks', 'Transfer-Encoding: chunked', '8\r\naddress=\r\n'],
])('a form %s that breaks off, on either set of pages, is no error of the service', async (_, header, begun) => {
  const made = await tempConfig({ PI_PORTAL: 'on', PI_CONSOLE: 'on', PI_CONSOLE_URL: 'http://127.0.0.1' })
  const error = vi.fn()
  const own = await startServer(made.config, { logger: { ...silentLogger, error } })
  const { hostname, port } = new URL(own.url)
  const breakOff = (path: string, origin: string) =>
    new Promise<void>((resolve) => {
      const { host } = new URL(origin)
      const head = [`POST ${path} HTTP/1.1`, `Host: ${host}`, `Origin: ${origin}`, header, form, '', begun]
      const socket = connect(Number(port), hostname, () => socket.write(head.join('\r\n'), () => socket.end()))
      socket.resume().on('close', () => resolve())
    })
  const form = 'Content-Type: application/x-www-form-urlencoded'
  for (let n = 0; n < 3; n += 1) {
    await breakOff('/portal/sign-in', own.url)
    await breakOff('/console/sign-in', 'http://127.0.0.1')
  }
  await own.stop()
  expect(error).not.toHaveBeenCalled()
  await made.remove()
})
