/** The console inside the reference server; in production people sign in. Source: docs/decisions/operators.md. */
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { listenTempApp } from '../../test/support/listening-app.js'
import { getTempConfig, startTempServer } from '../../test/support/temp-server.js'
import { createRequestLimits } from '../limits/request-limits.js'
import { startServer } from '../run/start-server.js'

const passphrase = 'correct horse battery'
const form = { origin: 'https://pay.example', 'content-type': 'application/x-www-form-urlencoded' }

const production = { PI_ENV: 'production', PI_TRUSTED_PROXIES: '127.0.0.1' }
const start = () => startTempServer({ ...production, PI_CONSOLE: 'on', PI_CONSOLE_URL: 'https://pay.example' })

async function sendDirectly(url: string, headers: Record<string, string>, body?: Record<string, string>) {
  const sent = request(url, { method: body ? 'POST' : 'GET', headers })
  sent.end(body && String(new URLSearchParams(body)))
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  const cookie = (answer.headers['set-cookie'] ?? []).map((each) => each.split(';')[0]).join('; ')
  return { status: answer.statusCode, location: answer.headers.location, cookie, text: await text(answer) }
}

/** A request as the proxy sends it: the Host header stays, and the caller's address is appended. */
const send = (url: string, headers: Record<string, string> = {}, body?: Record<string, string>) =>
  sendDirectly(url, { host: 'pay.example', 'x-forwarded-for': '203.0.113.7', ...headers }, body)

it('the console serves its pages, with the masked settings of this server, and rejects another Host and a POST of another origin', async () => {
  const { url } = await startTempServer({ PI_CONSOLE: 'on' })
  const answer = await fetch(`${url}/console/settings`)
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
  expect(await answer.text()).toContain('<dt>PI_MASTER_KEY</dt><dd><span class="given">set</span>')
  const { host } = new URL(url)
  expect(await sendDirectly(`${url}/console`, { host: 'evil.example' })).toMatchObject({ status: 403 })
  expect(await sendDirectly(`${url}/console`, { origin: 'http://evil.example' }, {})).toMatchObject({ status: 403 })
  expect(await sendDirectly(`${url}/console`, { host })).toMatchObject({ status: 200 })
})

it('the console ends the streams of open pages at the shutdown', async () => {
  const { url, stop } = await startTempServer({ PI_CONSOLE: 'on' })
  const reader = (await fetch(`${url}/console/live?topic=overview`)).body?.getReader()
  await reader?.read()
  await stop()
  let end = await reader?.read()
  while (end?.done === false) end = await reader?.read()
  expect(end?.done).toBe(true)
})

it('asks for a sign-in at its public address, and rejects every other Host', async () => {
  const { url } = await start()
  const location = '/console/sign-in?next=%2Fconsole%2Fpayments'
  expect(await send(`${url}/console/payments`)).toMatchObject({ status: 303, location })
  expect((await send(`${url}/console/sign-in`)).text).toContain('production')
  for (const host of ['evil.example', '127.0.0.1', new URL(url).host])
    expect(await send(`${url}/console/sign-in`, { host })).toMatchObject({ status: 403 })
})

it('an operator joins by the link, signs in and reads; the address that the proxy forwards is recorded', async () => {
  const { url, service } = await start()
  const { linkToken } = await service.operators.create({ name: 'alice', role: 'operator' })
  const joined = await send(`${url}/console/join`, form, { link: linkToken, passphrase, again: passphrase })
  expect(joined).toMatchObject({ status: 303, location: '/console/sign-in?note=joined' })
  const signIn = (given: string) => send(`${url}/console/sign-in`, form, { name: 'alice', passphrase: given })
  expect(await signIn('wrong horse battery')).toMatchObject({ status: 401, cookie: '' })
  const { status, cookie } = await signIn(passphrase)
  expect(status).toBe(303)
  const settings = await send(`${url}/console/settings`, { cookie })
  expect(settings).toMatchObject({ status: 200 })
  expect(settings.text).toContain('<dt>PI_CONSOLE_URL</dt><dd><span class="given">https://pay.example</span>')
  const records = await service.audit.list({ limit: 10 })
  const details = { source: '203.0.113.7' }
  for (const action of ['operator.sign_in_failed', 'operator.signed_in'])
    expect(records).toContainEqual(expect.objectContaining({ action, details }))
})

it('rejected sign-ins count in the limit of a source like those of the APIs', async () => {
  const app = await listenTempApp({
    console: { fetch: () => new Response('a page', { status: 401 }) },
    limits: createRequestLimits({ failedSignInsPerSource: 2, clock: { now: () => 0 } }),
  })
  const statuses = []
  for (const path of ['/console', '/console/live', '/console/sign-in'])
    statuses.push((await fetch(`${app.url}${path}`)).status)
  expect(statuses).toEqual([401, 401, 429])
})

it('without an address of the console, production does not start with it', async () => {
  const config = await getTempConfig({ PI_CONSOLE: 'on' })
  await expect(startServer({ ...config, environment: 'production' })).rejects.toThrow(
    'Simulated chains and a console without sign-in are for development alone.',
  )
})
