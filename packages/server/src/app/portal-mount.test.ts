/** The portal inside the reference server. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { tempConfig } from '../../test/support/temp-config.js'
import { type RunningServer, startServer } from '../run/start-server.js'

const address = `0x${'11'.repeat(20)}`
let server: RunningServer
let remove: () => Promise<void>
beforeAll(async () => {
  const made = await tempConfig({ PI_PORTAL: 'on' })
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

it('failures of one source are limited by the address of its connection', async () => {
  const failing = () => post('/portal/sign-in', { address: `0x${'22'.repeat(20)}`, secret: 'wrong' }, {})
  for (let n = 0; n < 5; n += 1) expect((await failing()).status).toBe(401)
  expect((await failing()).status).toBe(429)
})

it('a form of another site is answered 403', async () => {
  expect((await post('/portal/sign-in', {}, { Origin: 'https://evil.example' })).status).toBe(403)
})

it('is absent unless it is on', async () => {
  const made = await tempConfig()
  const own = await startServer(made.config)
  expect((await fetch(`${own.url}/portal`)).status).toBe(404)
  await own.stop()
  await made.remove()
})
