/** The console of a production server behind a proxy: people sign in. Source: docs/decisions/operators.md. */
import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listenApp } from '../../test/support/listening-app.js'
import { tempConfig } from '../../test/support/temp-config.js'
import { createRequestLimits } from '../limits/request-limits.js'
import { type RunningServer, startServer } from '../run/start-server.js'

const metricsToken = 'a-token-of-the-metrics'
const passphrase = 'correct horse battery'
const form = { origin: 'https://pay.example', 'content-type': 'application/x-www-form-urlencoded' }

let server: RunningServer
let remove: () => Promise<void>
beforeAll(async () => {
  const made = await tempConfig({
    PI_ENV: 'production',
    PI_CONSOLE: 'on',
    PI_CONSOLE_URL: 'https://pay.example',
    PI_TRUSTED_PROXIES: '127.0.0.1',
    PI_METRICS_TOKEN: metricsToken,
  })
  remove = made.remove
  server = await startServer(made.config)
})
afterAll(async () => {
  await server?.stop()
  await remove?.()
})

interface Answer {
  readonly status: number | undefined
  readonly location: string | undefined
  readonly cookie: string
  readonly text: string
}

/** A request as the proxy sends it: the Host header stays, and the caller's address is appended. */
function send(path: string, headers: Record<string, string> = {}, body?: Record<string, string>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const proxied = { host: 'pay.example', 'x-forwarded-for': '203.0.113.7', ...headers }
    const sent = request(
      `${server.url}${path}`,
      { method: body ? 'POST' : 'GET', headers: proxied },
      async (answer) => {
        let text = ''
        for await (const chunk of answer) text += chunk
        const cookie = (answer.headers['set-cookie'] ?? []).map((each) => each.split(';')[0]).join('; ')
        resolve({ status: answer.statusCode, location: answer.headers.location, cookie, text })
      },
    )
    sent.on('error', reject)
    sent.end(body && String(new URLSearchParams(body)))
  })
}

const signIn = (name: string, given: string) => send('/console/sign-in', form, { name, passphrase: given })

it('asks for a sign-in at its public address, and rejects every other Host', async () => {
  expect(await send('/console/payments')).toMatchObject({
    status: 303,
    location: '/console/sign-in?next=%2Fconsole%2Fpayments',
  })
  expect((await send('/console/sign-in')).text).toContain('production')
  for (const host of ['evil.example', '127.0.0.1', new URL(server.url).host])
    expect(await send('/console/sign-in', { host })).toMatchObject({ status: 403 })
})

it('an operator joins by the link, signs in and reads; the address that the proxy forwards is recorded', async () => {
  const { linkToken } = await server.service.operators.create({ name: 'alice', role: 'operator' })
  expect(await send('/console/join', form, { link: linkToken, passphrase, again: passphrase })).toMatchObject({
    status: 303,
    location: '/console/sign-in?note=joined',
  })
  expect(await signIn('alice', 'wrong horse battery')).toMatchObject({ status: 401, cookie: '' })
  const { status, cookie } = await signIn('alice', passphrase)
  expect(status).toBe(303)
  const settings = await send('/console/settings', { cookie })
  expect(settings).toMatchObject({ status: 200 })
  expect(settings.text).toContain('<dt>PI_CONSOLE_URL</dt><dd><span class="given">https://pay.example</span>')
  const records = await server.service.audit.list({ limit: 10 })
  expect(records.map(({ action, details }) => [action, details])).toEqual(
    expect.arrayContaining([
      ['operator.sign_in_failed', { source: '203.0.113.7' }],
      ['operator.signed_in', { source: '203.0.113.7' }],
    ]),
  )
})

describe('the limits of a source', () => {
  const limited = async (limits: Parameters<typeof createRequestLimits>[0], status: number) => {
    const app = await listenApp({
      console: { fetch: () => new Response('a page', { status }) },
      limits: createRequestLimits({ ...limits, now: () => 0 }),
    })
    const statuses = []
    for (const path of ['/console', '/console/live', '/console/sign-in'])
      statuses.push((await fetch(`${app.url}${path}`)).status)
    await app.stop()
    return statuses
  }

  it('count its rejected sign-ins like those of the APIs', async () => {
    expect(await limited({ failedSignInsPerSource: 2 }, 401)).toEqual([401, 401, 429])
  })
})

it('without an address of the console, production does not start with it', async () => {
  const made = await tempConfig({ PI_CONSOLE: 'on' })
  await expect(startServer({ ...made.config, environment: 'production' })).rejects.toThrow(
    'The console without sign-in and simulated chains are for development alone.',
  )
  await made.remove()
})
