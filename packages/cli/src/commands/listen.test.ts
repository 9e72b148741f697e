/** docs/decisions/trigger-and-listen.md from a server to a receiver, over real HTTP. */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { readConfig, startServer } from '@payment-integration/server/service'
import { createVerifier } from '@payment-integration/webhook'
import { describe, expect, it, onTestFinished } from 'vitest'
import { facts, indexPayments } from '../../../server/test/support/index-payments.js'
import { startRecordingReceiver } from '../../../server/test/support/recording-receiver.js'
import { testMasterKey } from '../../test/master-key.js'
import { listenLocally, serveHttp } from '../../test/serve-http.js'
import { temporaryFolder } from '../../test/temporary-folder.js'
import { getEvents, type TestIo, testIo } from '../../test/test-io.js'
import { runCli } from '../run-cli.js'

const shop = `0x${'a1'.repeat(20)}`
const hash = (n: number) => `0x${n.toString(16).padStart(64, '0')}`

async function startService(env: Record<string, string> = { PI_LISTEN: 'on' }) {
  const config = readConfig({
    ...{ PI_ENV: 'development', PI_PORT: '0', PI_LOG_LEVEL: 'silent', PI_MASTER_KEY: testMasterKey, ...env },
    PI_DATABASE_URL: `sqlite:${join(temporaryFolder(), 'service.db')}`,
  })
  const server = await startServer(config)
  onTestFinished(() => server.stop())
  const { integrations, store } = server.service
  const issued = await integrations.create({ address: shop, notificationUrl: 'http://127.0.0.1:9/hook' })
  const variables = { API_SECRET: issued.apiSecret, INTEGRATION_ADDRESS: shop, SIGNING: issued.signingSecret }
  const payment = (n: number) => facts({ txHash: hash(n), integrationAddress: shop })
  const pay = (...numbers: number[]) => indexPayments(store, numbers.map(payment))
  return { server, issued, variables, pay }
}

async function startReceiver() {
  const receiver = await startRecordingReceiver()
  onTestFinished(receiver.stop)
  return { url: `${receiver.url}/hook`, received: receiver.arrived }
}

/** Starts the command and waits until it is live. */
async function started(args: readonly string[], env: Record<string, string>) {
  const io = testIo({ env })
  const ended = runCli(['listen', ...args], io)
  await io.line((line) => /Listening to|"listening"/.test(line))
  const stop = async () => {
    io.interrupt()
    return ended
  }
  return { io, stop }
}

const getDeliveries = (io: TestIo) => getEvents(io).filter(({ event }) => event === 'delivery')

describe('listen', () => {
  it('forwards bytes and headers that the verifier of the webhook package accepts, with two secrets in a file', async () => {
    const { server, variables, issued, pay } = await startService()
    const { url, received } = await startReceiver()
    const path = join(temporaryFolder(), '.env.local')
    const secrets = `SIGNING=previous, ${variables.SIGNING}`
    writeFileSync(path, [`INTEGRATION_ADDRESS=${shop}`, secrets, `PAYMENTS_URL=${server.url}`].join('\n'))
    const args = ['--env-file', path, '--forward-to', url, '--signing-secret-env', 'SIGNING', '--json']
    const { io, stop } = await started(args, { API_SECRET: variables.API_SECRET })
    await io.line((line) => line.includes('"caught_up"'))
    await pay(1)
    await io.line((line) => line.includes('"delivery"'))
    expect(await stop()).toBe(0)
    const { verify } = createVerifier({ secrets: issued.signingSecret })
    const { body = Buffer.alloc(0), headers = {} } = received[0] ?? {}
    const { snapshot } = await verify({ body, headers })
    expect(snapshot.txHash).toBe(hash(1))
    expect(headers['x-service-integration']).toBe(shop)
    expect(getEvents(io)).toEqual([
      { event: 'listening', server: `${server.url}/`, forwardTo: url, resumed: false, notifies: true },
      { event: 'caught_up', missed: 0, resumed: false },
      expect.objectContaining({ event: 'delivery', txHash: hash(1), version: 1, status: 204, problem: null }),
      { event: 'summary', forwarded: 1, accepted: 1, failed: 0, reconnects: 0 },
    ])
    expect(getDeliveries(io)[0]).toMatchObject({ signatureValid: true, missed: false })
  })

  it('goes on after a connection that was cut in the middle of an event, and counts what was missed', async () => {
    const { server, variables, pay } = await startService()
    const { url, received } = await startReceiver()
    const cutting = await startCuttingProxy(server.url)
    const { io, stop } = await started(['--server', cutting, '--forward-to', url, '--json'], variables)
    await io.line((line) => line.includes('"caught_up"'))
    await pay(1)
    await io.line((line) => line.includes('"disconnected"'))
    await pay(2, 3)
    await io.line((line) => line.includes('"resumed":true') && line.includes('"caught_up"'))
    await pay(4)
    await io.line((line) => line.includes(hash(4)))
    expect(await stop()).toBe(0)
    expect(received.map(({ body }) => JSON.parse(String(body)).txHash)).toEqual([1, 2, 3, 4].map(hash))
    const caughtUp = getEvents(io).findLast(({ event }) => event === 'caught_up')
    const missed = getDeliveries(io).filter((delivery) => delivery['missed'])
    expect(caughtUp).toMatchObject({ resumed: true, missed: missed.length })
    expect(missed.length).toBeGreaterThanOrEqual(1)
    expect(getEvents(io).at(-1)).toMatchObject({ event: 'summary', forwarded: 4, reconnects: 1 })
  })

  it('names a closed port, and sends the deliveries of a span before its start', async () => {
    const { server, variables, pay } = await startService()
    await pay(1)
    const args = ['--server', server.url, '--forward-to', 'http://127.0.0.1:9/hook', '--since', '1h']
    const { io, stop } = await started(args, variables)
    expect(await io.line((line) => line.includes('<--'))).toContain('nothing listens at 127.0.0.1:9')
    await io.line((line) => line === 'Sent 1 from before.')
    expect(await stop()).toBe(0)
  })

  it('ends with one sentence for a wrong secret, and for a server without streams', async () => {
    const { server, variables } = await startService()
    const off = await startService({})
    const run = async (url: string, env: Record<string, string>) => {
      const io = testIo({ env })
      expect(await runCli(['listen', '--server', url, '--forward-to', 'http://127.0.0.1:9/'], io)).toBe(1)
      return io.errors
    }
    expect(await run(server.url, { ...variables, API_SECRET: variables.SIGNING })).toEqual([
      `The server rejects the credentials: check the address ${shop} and the API secret in API_SECRET. It is not the signing secret.`,
    ])
    expect(await run(off.server.url, off.variables)).toEqual([expect.stringContaining('PI_LISTEN=on')])
  })

  it.each([
    [429, '2.5', 2_500],
    [503, '3', 3_000],
    [429, '0', 500],
    [429, 'soon', 500],
    [429, undefined, 500],
  ])('a %i with Retry-After %j is followed by a wait of %d ms', async (status, retryAfter, retryInMs) => {
    const url = await serveHttp((_, response) =>
      response.writeHead(status, retryAfter === undefined ? {} : { 'Retry-After': retryAfter }).end(),
    )
    const env = { API_SECRET: 'secret', INTEGRATION_ADDRESS: shop }
    const io = testIo({ env, sleep: async (_, signal) => void (await (signal && once(signal, 'abort'))) })
    const ended = runCli(['listen', '--server', url, '--forward-to', 'http://127.0.0.1:9/', '--json'], io)
    const line = await io.line((text) => text.includes('"disconnected"'))
    const reason = status === 429 ? 'too many streams are open' : 'the server answers 503'
    expect(JSON.parse(line)).toMatchObject({ reason, retryInMs })
    io.interrupt()
    await ended
  })

  it.each([
    [['--server', 'http://payments.example'], 'must be https'],
    [['--server', 'https://user:secret@payments.example'], 'no user'],
    [[], 'pass --server or set PAYMENTS_URL'],
    [['--server', 'https://payments.example', '--env-file', '/does/not/exist'], 'cannot be read'],
    [['--server', 'https://payments.example', '--api-secret-env', 'NOWHERE'], 'NOWHERE is not set'],
  ])('rejects %j before it connects', async (args, words) => {
    const io = testIo({ env: { API_SECRET: 'secret', INTEGRATION_ADDRESS: shop } })
    expect(await runCli(['listen', '--forward-to', 'http://127.0.0.1:9/', ...args], io)).toBe(2)
    expect(io.errors[0]).toContain(words)
    expect(io.errors.join()).not.toContain('secret@')
  })
})

/** Cuts its first connection in the middle of the first delivery. */
async function startCuttingProxy(target: string) {
  const { hostname, port } = new URL(target)
  let isFirst = true
  const proxy = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    const cuts = isFirst
    isFirst = false
    client.on('error', () => undefined).on('close', () => upstream.destroy())
    upstream.on('error', () => undefined).on('close', () => client.destroy())
    client.pipe(upstream)
    upstream.on('data', (chunk: Buffer) => {
      const at = cuts ? chunk.indexOf('event: delivery') : -1
      if (at < 0) client.write(chunk)
      else client.write(chunk.subarray(0, at + 60), () => client.destroy())
    })
  })
  onTestFinished(() => void proxy.close())
  return listenLocally(proxy)
}

it('an event of 33 levels ends the command, and reaches no receiver', async () => {
  const { url, received } = await startReceiver()
  const deep = `{"a":${'['.repeat(32)}${']'.repeat(32)}}`
  const base = await serveHttp((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    response.write(`event: ready\ndata: ${deep}\n\n`)
  })
  const io = testIo({ env: { API_SECRET: 'a', INTEGRATION_ADDRESS: shop } })
  expect(await runCli(['listen', '--forward-to', url, '--server', base], io)).toBe(1)
  expect(io.errors.join()).toContain('an event that is not JSON')
  expect(received).toEqual([])
})
