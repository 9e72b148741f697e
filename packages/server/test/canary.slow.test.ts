/**
 * No secret appears anywhere. The service runs through successes, failures, crashes around it, rotations, replays and a
 * new master key. Then its output and its database are searched.
 *
 * Allowed are only these. A new secret: once, in the output of the command that issues it. The query of a notification
 * URL: in its database column and where `integrations …` shows the integration. A receiver's answer: in
 * `attempts.excerpt` and where `deliveries show` and `--json` show attempts.
 */
import { randomBytes } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { RunningServer } from '../src/run/start-server.js'
import { leaks } from './support/canaries.js'
import { engines } from './support/database-rows.js'
import { facts, indexPayments } from './support/index-payments.js'
import { basic, signBody } from './support/integration-service.js'
import { startRecordingReceiver } from './support/recording-receiver.js'
import { type WatchedService, watchService } from './support/watched-service.js'

const shop = `0x${'a1'.repeat(20)}`
const router = `0x${'e1'.repeat(20)}`
const shows = { allows: ['url'] } as const
const showsAttempts = { allows: ['echo'] } as const

/** Stores one more payment of the shop and waits for the attempt of its notification. */
async function pay(watched: WatchedService, { service }: RunningServer, number: number): Promise<string> {
  const attempts = () => watched.events.filter((event) => event.type === 'delivery.attempted')
  const txHash = `0x${String(number).padStart(64, '0')}`
  await indexPayments(service.store, [facts({ txHash, integrationAddress: shop })])
  service.dispatcher.wake()
  // Of this payment: replays and retries of others may interleave.
  while (!attempts().some((event) => event.txHash === txHash))
    await watched.seen('delivery.attempted', attempts().length + 1)
  return txHash
}

/** Requests that are answered, rejected and crash. */
async function askAll(watched: WatchedService, server: RunningServer, apiSecret: string, legacyKey: string) {
  const { canary, ask } = watched
  const list = `${server.url}/api/v1/integration/payments`
  const good = { headers: { authorization: basic(shop, apiSecret) } }
  expect((await ask(list, good)).status).toBe(200)
  const wrong = canary('wrong credentials')
  expect((await ask(list, { headers: { authorization: basic(shop, wrong) } })).status).toBe(401)
  expect((await ask(list, { headers: { authorization: wrong } })).status).toBe(401)
  expect((await ask(`${list}?cursor=${canary('cursor')}`, good)).status).toBe(400)
  expect((await ask(`${list}/${canary('path')}`, good)).status).toBe(400)
  const legacy = `${server.url}/api/v1/tx/1/0x${'0'.repeat(63)}1`
  expect((await ask(legacy, { headers: { authorization: legacyKey } })).status).toBe(200)
  expect((await ask(legacy, { headers: { authorization: `Bearer ${wrong}` } })).status).toBe(401)

  const secrets = (watched.env['PI_PROCESSOR_SECRETS'] ?? '').split(',')
  const update = async (body: string, secret: string) => {
    const signature = signBody(body, secret)
    canary('signature', 'secret', signature.slice(signature.indexOf('v1=') + 3))
    const headers = { 'content-type': 'application/json', 'x-service-signature': signature }
    return (await ask(`${server.url}/api/v1/processor/updates`, { method: 'POST', body, headers })).status
  }
  const change = { id: 'u1', chainId: '1', txHash: `0x${'0'.repeat(63)}1`, state: 'success' }
  expect(await update(JSON.stringify(change), secrets[0] ?? '')).toBe(200)
  expect(await update(JSON.stringify({ ...change, extra: canary('body') }), wrong)).toBe(401)
  expect(await update(`{"id": "${canary('malformed body')}`, secrets[1] ?? '')).toBe(400)

  const { forIntegration } = server.service.queries
  const failure = new Error(`${wrong} ${apiSecret}`, { cause: new Error(legacyKey) })
  const failing = { getPayment: () => Promise.reject(failure) }
  Object.assign(server.service.queries, { forIntegration: () => failing })
  expect((await ask(`${list}/${change.txHash}`, good)).status).toBe(500)
  Object.assign(server.service.queries, { forIntegration })
  expect((await ask(`${server.url}/health`)).status).toBe(200)
}

/** Every command, while the server runs. */
async function commandAll({ command, canary }: WatchedService, url: string) {
  const hook = (await command(['integrations', 'list'], shows)).out.match(/http:\S+/)?.[0] ?? ''
  await command(['integrations', 'list', '--json'], shows)
  await command(['integrations', 'disable', shop], shows)
  await command(['integrations', 'enable', shop, '--json'], shows)
  await command(['integrations', 'set-url', shop, 'none'], shows)
  await command(['integrations', 'set-url', shop, hook], shows)
  const userinfo = `https://user:${canary('userinfo of a URL')}@shop.example/hook`
  expect((await command(['integrations', 'set-url', shop, userinfo, '--debug'])).exitCode).toBe(2)
  await command(['legacy-keys', 'list', '--json'])
  await command(['status', '--url', url])
  await command(['deliveries', 'list'])
  await command(['deliveries', 'list', '--json', '--all'], showsAttempts)
  await command(['deliveries', 'show', '2'], showsAttempts)
  await command(['deliveries', 'show', '999999', '--debug'])
  await command(['deliveries', 'replay', '1', '--json'], showsAttempts)
  await command(['deliveries', 'replay-failed', '--dry-run'])
  await command(['deliveries', 'replay-failed', '--all', '--json'])
  await command(['deliveries', 'endpoints', '--json'])
  await command(['audit', 'list', '--all'])
  await command(['audit', 'list', '--json'])
  expect((await command(['audit', 'verify'])).exitCode).toBe(0)
}

describe.each(engines)('on %s', (_, missing, open) => {
  it.skipIf(missing !== null)('no secret is printed or stored', async () => {
    const watched = watchService({})
    const { env, canary, command, sinks, canaries } = watched
    const stored = await open(canary('password of the database'))
    onTestFinished(stored.remove)
    const oldKey = canary('old master key', 'secret', randomBytes(32).toString('hex'))
    const newKey = canary('new master key', 'secret', randomBytes(32).toString('base64url'))
    const rpc = `http://${canary('RPC user')}:${canary('RPC password')}@127.0.0.1:1/${canary('RPC path')}?key=${canary('RPC query')}`
    const metricsToken = canary('token of the metrics')
    const bearer = { headers: { authorization: `Bearer ${metricsToken}` } }
    Object.assign(env, {
      PI_ENV: 'development',
      PI_PORT: '0',
      PI_LOG_LEVEL: 'debug',
      PI_DATABASE_URL: stored.url,
      PI_MIGRATE: 'on',
      PI_MASTER_KEY: oldKey,
      PI_PROCESSOR_SECRETS: `${canary('processor secret')},${canary('second processor secret')}`,
      PI_RPC_URL_31337: rpc,
      PI_ROUTERS_31337: `${router}@0.8`,
      PI_POLL_MS_31337: '50',
      PI_METRICS_TOKEN: metricsToken,
    })

    const receiver = await startRecordingReceiver()
    onTestFinished(receiver.stop)
    const query = canary('query of the notification URL', 'url')
    const echo = canary('answer of the receiver', 'echo')
    const hook = `${receiver.url}/hook?key=${query}`
    const created = await command(['integrations', 'create', shop, '--url', hook, '--json'], {
      issues: ['apiSecret', 'signingSecret'],
      ...shows,
    })
    const { apiKey = '' } = (await command(['legacy-keys', 'create', '--json'], { issues: ['apiKey'] })).issued
    const { apiSecret = '', signingSecret = '' } = created.issued
    canary('Basic credentials', 'secret', Buffer.from(`${shop}:${apiSecret}`).toString('base64'))

    let server = await watched.start(`${apiSecret} ${signingSecret} ${apiKey} ${oldKey}`)
    onTestFinished(() => server.stop())
    await pay(watched, server, 1)
    const answers: (typeof receiver.answer)[] = [
      ({ headers, body }, response) =>
        void response.writeHead(500, { 'set-cookie': echo }).end(`${echo} ${JSON.stringify(headers)} ${body}`),
      (_, response) => void response.socket?.destroy(),
      (_, response) => void response.writeHead(302, { location: `https://a.example/${echo}` }).end(),
      (_, response) => void response.writeHead(410).end(echo),
    ]
    for (const [index, answer] of answers.entries()) {
      receiver.answer = answer
      await pay(watched, server, index + 2)
    }
    await pay(watched, server, 6)
    await watched.seen('endpoint.failing', 1)
    await watched.seen('delivery.exhausted', 2)
    await watched.ask(`${server.url}/metrics`, bearer)
    receiver.answer = (_request, response) => void response.writeHead(204).end()
    await askAll(watched, server, apiSecret, apiKey)
    await watched.seen('chain.failed', 1)
    const attempts = watched.events.filter(({ type }) => type === 'delivery.attempted').length
    await commandAll(watched, server.url)
    await watched.seen('delivery.attempted', attempts + 1)

    await command(['integrations', 'rotate-secret', shop, '--json'], { issues: ['apiSecret'] })
    const rotate = ['integrations', 'rotate-secret', shop, '--signing']
    await command([...rotate, '--prepare', '--json'], { issues: ['signingSecret'] })
    await command([...rotate, '--activate'])
    await command([...rotate, '--prepare', '--json'], { issues: ['signingSecret'] })
    await command(['integrations', 'list'], shows)
    const { store } = server.service
    const sealed = (await store.integrations.find(shop))?.signingSecret ?? { keyVersion: 1, sealed: '' }
    const altered = `${sealed.sealed.startsWith('A') ? 'B' : 'A'}${sealed.sealed.slice(1)}`
    const setSealed = (text: string) =>
      store.transaction((tx) => tx.integrations.update(shop, { signingSecret: { ...sealed, sealed: text } }))
    await setSealed(altered)
    await pay(watched, server, 7)
    // An earlier retry may end the wait of `pay`.
    await expect
      .poll(() => watched.events, { timeout: 300_000, interval: 50 })
      .toContainEqual(expect.objectContaining({ reason: 'secret_unreadable' }))
    await setSealed(sealed.sealed)
    // An answer may be a second old.
    await expect
      .poll(async () => (await watched.ask(`${server.url}/metrics`, bearer)).text, { timeout: 300_000, interval: 100 })
      .toMatch(/delivery_attempts_total\{result="secret_unreadable"\} [1-9]/)
    const whileOpen = stored.files()

    await server.stop()
    env['PI_MASTER_KEY'] = `${newKey},${oldKey}`
    await command(['secrets', 'reseal'])
    server = await watched.start(newKey)
    await pay(watched, server, 8)
    await command(['integrations', 'rotate-secret', shop, '--grace', '0s', '--json'], { issues: ['apiSecret'] })
    const { issued } = await command(['legacy-keys', 'create', '--json'], { issues: ['apiKey'] })
    const rejected = await watched.ask(`${server.url}/api/v1/verify`, {
      method: 'POST',
      headers: { authorization: issued['apiKey'] ?? '', 'content-type': 'application/json' },
      body: `{"${canary('verify body')}":`,
    })
    expect(rejected.status).toBe(400)
    await watched.ask(`${server.url}/metrics`, bearer)
    await server.stop()
    env['PI_MASTER_KEY'] = canary('master key of the wrong length')
    expect((await command(['audit', 'verify', '--debug'])).exitCode).toBe(1)
    env['PI_MASTER_KEY'] = canary('another master key', 'secret', randomBytes(32).toString('hex'))
    expect((await command(['deliveries', 'list', '--debug'])).exitCode).toBe(1)

    const values = await stored.values()
    const allowed: Record<string, ['url' | 'echo']> = {
      'integrations.notification_url': ['url'],
      'attempts.excerpt': ['echo'],
    }
    for (const { column, text } of values) watched.say(column, text, allowed[column])
    for (const { where, text } of [...whileOpen, ...stored.files()]) watched.say(where, text, ['url', 'echo'])

    // The search found the allowed values, so it would have found others.
    const said = (where: string) => sinks.flatMap((sink) => (sink.where.startsWith(where) ? sink.text : [])).join('\n')
    expect(said('integrations.notification_url')).toContain(query)
    expect(said('output of integrations list')).toContain(query)
    expect(said('attempts.excerpt')).toContain(echo)
    expect(said('output of deliveries show 2')).toContain(echo)
    expect(said('attempts.excerpt')).toContain(receiver.arrived[1]?.headers['x-service-signature'])
    for (const { where } of whileOpen) if (where === 'canary.db') expect(said(where)).toContain(query)
    expect(said('log')).toContain('An event sink threw')
    expect(said('log')).toContain('endpoint.failing')
    expect(said('answer 200 of /metrics')).toMatch(/published_to_delivered_seconds_count [1-9]/)
    for (const column of ['snapshots.integration', 'audit.hash', 'snapshots.body']) expect(said(column)).not.toBe('')
    expect(canaries.length).toBeGreaterThan(25)

    expect(leaks(sinks, canaries)).toEqual([])
  })
})

it.each(['text', 'hex', 'HEX', 'base64', 'bytes', 'percent'] as const)('a canary written as %s is found', (form) => {
  const bytes = randomBytes(32)
  const value = form === 'percent' ? 'a b/c' : bytes.toString('base64url')
  const written = {
    text: value,
    hex: bytes.toString('hex'),
    HEX: Buffer.from(value).toString('hex').toUpperCase(),
    base64: bytes.toString('base64'),
    bytes: bytes.toString('latin1'),
    percent: 'a%20b%2Fc',
  }[form]
  const canary = { name: 'it', kind: 'url', value } as const
  expect(leaks([{ where: 'a log', text: `x${written}y` }], [canary])).toEqual(['it in a log'])
  expect(leaks([{ where: 'a log', text: written, allows: ['url'] }], [canary])).toEqual([])
  expect(leaks([{ where: 'a log', text: 'nothing' }], [canary])).toEqual([])
})
