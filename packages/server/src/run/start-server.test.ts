import { createHmac, randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { IssuedIntegration, ServiceEvent } from '@payment-integration/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { facts, indexPayments } from '../../test/support/index-payments.js'
import { basic } from '../../test/support/integration-service.js'
import { eventually, startTcp } from '../../test/support/tcp-server.js'
import { tempConfig } from '../../test/support/temp-config.js'
import type { Config } from '../config/config.js'
import { openService } from './open-service.js'
import { type RunningServer, startServer } from './start-server.js'

const hash = (digit: string) => `0x${digit.repeat(64)}`
const own = `0x${'Aa'.repeat(20)}`
const other = `0x${'bB'.repeat(20)}`
const processorSecret = 'processor-secret-of-the-tests'

let config: Config
let remove: () => Promise<void>
let server: RunningServer
let receiver: Server
let issued: IssuedIntegration
const received: { headers: Record<string, unknown>; body: string }[] = []
const events: ServiceEvent[] = []

beforeAll(async () => {
  receiver = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      received.push({ headers: request.headers, body })
      response.end()
    })
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const made = await tempConfig({ PI_PROCESSOR_SECRETS: processorSecret })
  config = made.config
  remove = made.remove
  server = await startServer(config, { onEvent: (event) => events.push(event) })
  const notificationUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
  issued = await server.service.integrations.create({ address: own, notificationUrl })
  const integrationAddress = own.toLowerCase()
  await indexPayments(server.service.store, [
    facts({ txHash: hash('1'), integrationAddress }),
    facts({ txHash: hash('2'), integrationAddress, blockTimestamp: Date.UTC(2026, 0, 3) }),
  ])
  server.service.dispatcher.wake()
})
afterAll(async () => {
  await server.stop()
  receiver.closeAllConnections()
  receiver.close()
  await remove()
})

const api = '/api/v1/integration'
const get = (path: string, authorization = basic(own, issued.apiSecret)) =>
  fetch(`${server.url}${path}`, { headers: { authorization } })
async function json(path: string, authorization?: string) {
  const answer = await get(path, authorization)
  expect(answer.headers.get('cache-control')).toBe('private, no-store')
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

describe('a processor update and its notification', () => {
  function send(update: object) {
    const body = JSON.stringify(update)
    const t = Math.floor(Date.now() / 1000)
    const v1 = createHmac('sha256', processorSecret).update(`${t}.${body}`).digest('hex')
    return fetch(`${server.url}/api/v1/processor/updates`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', 'x-service-signature': `t=${t},v1=${v1}` },
    })
  }

  it('move a payment to version 2 and notify the integrator with a signed POST', async () => {
    await eventually(() => received.length === 2, 50_000)
    const update = {
      id: 'u-1',
      chainId: '1',
      txHash: hash('1'),
      state: 'pending',
      recipient: { title: 'Shop', subtitle: null },
    }
    const answer = await send(update)
    expect([answer.status, await answer.json()]).toEqual([
      200,
      { id: 'u-1', outcome: 'applied', version: 2, reason: null },
    ])
    await eventually(() => received.length === 3, 50_000)
    const { headers, body } = received[2] ?? { headers: {}, body: '' }
    const [, t = '', v1 = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-service-signature'])) ?? []
    expect(v1).toBe(createHmac('sha256', issued.signingSecret).update(`${t}.${body}`).digest('hex'))
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'x-service-integration': own.toLowerCase() })
    expect(JSON.parse(body)).toMatchObject({
      txHash: hash('1'),
      version: 2,
      state: 'pending',
      recipient: { title: 'Shop' },
    })
    expect(await json(`${api}/payments/${hash('1')}`)).toMatchObject({ body: { version: 2, state: 'pending' } })
    expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(['payment.changed', 'delivery.attempted']))
  })
})

describe('the lifecycle of a server', () => {
  it('stops within its time, also when called twice, and keeps its data for the next start', async () => {
    const { config: own, remove: clean } = await tempConfig()
    const first = await startServer(own)
    await first.service.integrations.create({ address: other })
    await Promise.all([first.stop(), first.stop()])
    await expect(fetch(`${first.url}/health`)).rejects.toThrow()
    const second = await startServer(own)
    expect(await second.service.integrations.list()).toHaveLength(1)
    await second.stop()
    await clean()
  })

  it('answers while a chain node is dead: health is degraded and names the chain, not its URL', async () => {
    const node = await startTcp((socket) => socket.destroy())
    const made = await tempConfig({
      PI_RPC_URL_31337: `${node.url}/v3/CANARY`,
      PI_ROUTERS_31337: `0x${'ee'.repeat(20)}@0.8`,
      PI_POLL_MS_31337: '50',
    })
    const running = await startServer(made.config)
    const health = async () =>
      (await (await fetch(`${running.url}/health`)).json()) as { status: string; chains: unknown[] }
    let report = await health()
    const end = Date.now() + 300_000
    while (report.status !== 'degraded' && Date.now() < end) report = await health()
    expect(report).toMatchObject({ status: 'degraded', chains: [{ chainId: 31337, head: null, indexed: null }] })
    expect(JSON.stringify(report)).not.toContain('CANARY')
    const startedAt = performance.now()
    await running.stop()
    expect(performance.now() - startedAt).toBeLessThan(60_000)
    await node.stop()
    await made.remove()
  })

  it('reports a port in use with advice, and closes its database', async () => {
    const made = await tempConfig({ PI_PORT: new URL(server.url).port })
    await expect(startServer(made.config)).rejects.toMatchObject({
      code: 'ERR_LISTEN',
      message: expect.stringContaining('another program listens there'),
    })
    const opened = await openService(made.config)
    await opened.close()
    await made.remove()
  })

  it('rejects a database of another master key, and opens it with that key listed', async () => {
    const { config: first, remove } = await tempConfig()
    const opened = await openService(first)
    await opened.service.integrations.create({ address: `0x${'7'.repeat(40)}` })
    await opened.close()
    const masterKey = randomBytes(32).toString('hex')
    await expect(startServer({ ...first, masterKey })).rejects.toMatchObject({ code: 'ERR_MASTER_KEY_MISSING' })
    await expect(openService({ ...first, masterKey })).rejects.toMatchObject({ code: 'ERR_MASTER_KEY_MISSING' })
    const server = await startServer({ ...first, masterKey: `${masterKey},${first.masterKey}` })
    await server.stop()
    await remove()
  })

  it('fails for a database that cannot be opened', async () => {
    const made = await tempConfig()
    const broken = { ...made.config, database: { kind: 'sqlite', path: '/proc/no/such/folder/x.db' } } as const
    await expect(startServer(broken)).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    await made.remove()
  })
})
