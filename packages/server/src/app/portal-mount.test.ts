/** The portal inside the reference server. */
import { connect } from 'node:net'
import { silentLogger } from '@payment-integration/core'
import { expect, it, vi } from 'vitest'
import { startTempServer } from '../../test/support/temp-server.js'
import type { RunningServer } from '../run/start-server.js'

const address = `0x${'11'.repeat(20)}`
const signIn = ({ url }: RunningServer, fields: Record<string, string>, origin = url) =>
  fetch(`${url}/portal/sign-in`, {
    ...{ method: 'POST', redirect: 'manual', headers: { Origin: origin } },
    body: new URLSearchParams(fields),
  })

it('an integration signs in with its API secret and sees its own page, without the console; a form of another site is 403', async () => {
  const server = await startTempServer({ PI_PORTAL: 'on' })
  const { apiSecret } = await server.service.integrations.create({ address })
  const opened = await signIn(server, { address, secret: apiSecret })
  expect(opened.status).toBe(303)
  const [cookie = ''] = opened.headers.getSetCookie()
  const page = await fetch(`${server.url}/portal`, { headers: { Cookie: cookie.split(';')[0] ?? '' } })
  const text = await page.text()
  expect(page.status).toBe(200)
  for (const shown of [address, `${server.url}/api/v1/integration/payments`]) expect(text).toContain(shown)
  expect((await fetch(`${server.url}/console`)).status).toBe(404)
  expect((await signIn(server, {}, 'https://evil.example')).status).toBe(403)
})

it('sign-ins count in the limit of the caller: beyond it no session is opened and nothing is recorded', async () => {
  const own = await startTempServer({ PI_PORTAL: 'on', PI_LIMIT_PER_CALLER: '1' })
  const { apiSecret } = await own.service.integrations.create({ address })
  const answers = await Promise.all(Array.from({ length: 60 }, () => signIn(own, { address, secret: apiSecret })))
  const limited = answers.filter(({ status }) => status === 429)
  expect(limited.length).toBeGreaterThan(0)
  expect(limited[0]?.headers.get('retry-after')).toBe('1')
  const records = await own.service.audit.list({ limit: 100 })
  const signedIn = records.filter(({ action }) => action === 'integration.signed_in')
  expect(signedIn).toHaveLength(60 - limited.length)
})

it.each([
  ['of a declared length', 'Content-Length: 100', 'address='],
  ['in chunks', 'Transfer-Encoding: chunked', '8\r\naddress=\r\n'],
])('a form %s that breaks off, on either set of pages, is no error of the service', async (_, header, begun) => {
  const error = vi.fn()
  const env = { PI_PORTAL: 'on', PI_CONSOLE: 'on', PI_CONSOLE_URL: 'http://127.0.0.1' }
  const own = await startTempServer(env, { logger: { ...silentLogger, error } })
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
})
