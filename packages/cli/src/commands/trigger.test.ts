/** docs/decisions/trigger-and-listen.md from the command to a receiver, through a real server. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@payment-integration/client'
import { createMemoryVersionStore, createReceiver } from '@payment-integration/version-store'
import { createVerifier } from '@payment-integration/webhook'
import { createNodeHandler } from '@payment-integration/webhook/node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testMasterKey } from '../../test/master-key.js'
import { listenLocally, serveHttp } from '../../test/serve-http.js'
import { getEvents, testIo } from '../../test/test-io.js'
import { aborted } from '../process.js'
import { runCli } from '../run-cli.js'

const shop = `0x${'a1'.repeat(20)}`
const other = `0x${'e5'.repeat(20)}`
const cleanUps: (() => unknown)[] = []
afterAll(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

const folder = mkdtempSync(join(tmpdir(), 'payment-integration-trigger-'))
cleanUps.push(() => rmSync(folder, { recursive: true }))
const env = {
  PI_ENV: 'development',
  PI_LOG_LEVEL: 'silent',
  PI_MASTER_KEY: testMasterKey,
  PI_SIMULATED_CHAINS: '137,10',
  PI_DATABASE_URL: `sqlite:${join(folder, 'service.db')}`,
}
let variables: Record<string, string>
let stopServer: () => Promise<void>

async function startReceiver(secret: () => string): Promise<string> {
  const { verify } = createVerifier({ secrets: async () => [secret()] })
  const { receive } = createReceiver({ verify, store: createMemoryVersionStore(), handle: () => undefined })
  const http = createServer(createNodeHandler({ receive }))
  cleanUps.push(() => http.close())
  return `${await listenLocally(http)}/webhook`
}

/** Starts `serve` on the database, and resolves its URL. */
async function startServer(): Promise<string> {
  const io = testIo({ env })
  const ended = runCli(['serve', '--port', '0', '--json'], io)
  stopServer = async () => {
    io.interrupt()
    expect(await ended).toBe(0)
  }
  const { url } = JSON.parse(await io.line((line) => line.includes('"listening"'))) as { url: string }
  return url
}

beforeAll(async () => {
  let secret = ''
  const receiver = await startReceiver(() => secret)
  const io = testIo({ env })
  await runCli(['integrations', 'create', shop, '--url', receiver, '--json'], io)
  const [created] = getEvents(io)
  secret = String(created?.['signingSecret'])
  variables = { INTEGRATION_ADDRESS: shop, API_SECRET: String(created?.['apiSecret']) }
  variables = { ...variables, PAYMENTS_URL: await startServer() }
  cleanUps.push(() => stopServer())
})

/** Starts a scenario for a new integration, and resolves when it waits for the answer to its first delivery. */
async function startDuplicate(address: string, receiver: string) {
  const command = testIo({ env })
  await runCli(['integrations', 'create', address, '--url', `${receiver}/webhook`, '--json'], command)
  const [created] = getEvents(command)
  const apiSecret = String(created?.['apiSecret'])
  const io = testIo({ env: { ...variables, INTEGRATION_ADDRESS: address, API_SECRET: apiSecret } })
  const ended = runCli(['--json', 'trigger', 'duplicate'], io)
  await io.line((line) => line.includes('snapshot'))
  return { ended, io }
}

async function trigger(...args: string[]) {
  const io = testIo({ env: variables })
  const exitCode = await runCli(['--json', 'trigger', ...args], io)
  return { exitCode, events: exitCode === 2 ? [] : getEvents(io), err: io.errors.join('\n') }
}
const names = (events: readonly Record<string, unknown>[]) => events.map(({ event }) => event)
const states = (events: readonly Record<string, unknown>[]) =>
  events.filter(({ event }) => event === 'snapshot').map(({ version, state }) => `${version} ${state}`)
const getPayments = () => {
  const { PAYMENTS_URL: baseUrl = '', API_SECRET: apiSecret = '' } = variables
  return createClient({ baseUrl, integrationAddress: shop, apiSecret }).payments
}

describe('payment-integration trigger', () => {
  test('payment makes a payment with the given fields, and prints the exact snapshot', async () => {
    const [sender, receiver] = [`0x${'b2'.repeat(20)}`, `0x${'c3'.repeat(20)}`]
    const fields = ['--amount', '12.50', '--currency', 'EURC', '--chain', '10', '--memo', 'order-7']
    const { exitCode, events } = await trigger('payment', ...fields, '--sender', sender, '--receiver', receiver)
    expect(exitCode).toBe(0)
    expect(names(events)).toEqual(['block', 'snapshot', 'done'])
    const { txHash, ...snapshot } = JSON.parse(String(events[1]?.['body']))
    expect(snapshot).toMatchObject({ integrationAddress: shop, chainId: '10', version: 1, state: null })
    const tokenOut = { symbol: 'EURC', amountNet: '12.5' }
    expect(await getPayments().get(txHash)).toMatchObject({ sender, receiver, memo: 'order-7', tokenOut })
  })

  test('burst makes as many payments as it is told, each with a snapshot', async () => {
    const { events } = await trigger('burst', '230')
    expect(events.at(-1)).toMatchObject({ event: 'done', payments: 230, snapshots: 230 })
    const blocks = events.filter(({ event }) => event === 'block')
    const hashesByBlock = blocks.map(({ txHashes }) => txHashes as string[])
    expect(hashesByBlock.map(({ length }) => length)).toEqual([100, 100, 30])
    const missing = new Set(hashesByBlock.flat())
    for await (const { txHash } of getPayments().iterate()) missing.delete(txHash)
    expect(missing.size).toBe(0)
  })

  test('kyc shares a verification with the provider that serve runs, and shows what a second share answers', async () => {
    const { exitCode, events } = await trigger('kyc', 'red-final')
    expect(exitCode).toBe(0)
    expect(events[0]).toMatchObject({ event: 'share', status: 200, answer: { reviewStatus: 'pending', reused: true } })
    const answer = { error: expect.stringContaining('rejected: RED, FINAL.') }
    expect(events[1]).toMatchObject({ event: 'share', status: 422, answer })
  })

  test('a second trigger beside a running one fails, and neither disturbs the other', async () => {
    const released = new AbortController()
    const url = await serveHttp(
      (_, response) => void aborted(released.signal).then(() => response.writeHead(204).end()),
    )
    const { ended } = await startDuplicate(`0x${'c3'.repeat(20)}`, url)
    const { exitCode, events } = await trigger('reorg', '--chain', '137')
    const reason = expect.stringContaining('Another trigger is running')
    expect([exitCode, events]).toEqual([1, [{ event: 'failed', reason }]])
    released.abort()
    expect(await ended).toBe(0)
    expect((await trigger('reorg')).exitCode).toBe(0)
  })

  test('after a restart the simulated chains go on where they were', async () => {
    await stopServer()
    variables = { ...variables, PAYMENTS_URL: await startServer() }
    expect(states((await trigger('reorg')).events)).toEqual(['1 null', '2 failure'])
  })

  test('a shutdown ends a scenario that waits, which says so', async () => {
    const { ended, io } = await startDuplicate(other, await serveHttp(() => undefined))
    await stopServer()
    expect(await ended).toBe(1)
    const reason = expect.stringContaining('did not happen in time')
    expect(getEvents(io).at(-1)).toEqual({ event: 'failed', reason })
    variables = { ...variables, PAYMENTS_URL: await startServer() }
  })

  test('--as-test prints a test and causes nothing', async () => {
    const io = testIo({ env: {} })
    expect(await runCli(['trigger', 'refund', '--amount', '1.5', '--as-test'], io)).toBe(0)
    expect(io.lines.join('\n')).toContain('twin.trigger({"scenario":"refund","amount":"1.5"}, shop)')
  })
})

test.each([
  ['an unknown scenario', ['pay'], 2, 'Allowed choices are payment, success'],
  ['an unknown option', ['payment', '--wallet', '5'], 2, "unknown option '--wallet'"],
  ['a detail that the scenario does not take', ['payment', '5'], 2, 'payment takes no detail'],
  ['a burst of nothing', ['burst', '0'], 2, 'must be from 1 to 10000'],
  ['an unknown verdict', ['kyc', 'blue'], 2, 'green, red-retry, red-final'],
  ['a malformed amount', ['payment', '--amount', '1,5'], 2, 'Expected a decimal such as 12.50'],
  ['an amount for a test of kyc', ['kyc', '--amount', '5', '--as-test'], 2, 'is not an option of kyc'],
  ['kyc as a test of a receiver', ['kyc', '--as-test'], 2, 'kyc delivers nothing to a receiver'],
  ['a chain that is not simulated', ['payment', '--chain', '1'], 1, 'Chain 1 is not simulated; there are 137, 10'],
  ['another secret', ['payment', '--api-secret-env', 'INTEGRATION_ADDRESS'], 1, 'rejects the credentials'],
  ['no server there', ['payment', '--server', 'http://127.0.0.1:9'], 1, '127.0.0.1:9 is not reachable'],
])('%s is an error with a reason, never ignored', async (_, args, code, message) => {
  const { exitCode, err } = await trigger(...args)
  expect(err).toContain(message)
  expect(exitCode).toBe(code)
  expect(err).not.toContain(variables['API_SECRET'])
})

describe('a server that', () => {
  async function againstServer(listener: RequestListener) {
    const io = testIo({ env: variables })
    return { exitCode: await runCli(['trigger', 'payment', '--server', await serveHttp(listener)], io), io }
  }
  const against = (answer: string) =>
    againstServer((_, response) => response.writeHead(200, { 'Content-Type': 'application/x-ndjson' }).end(answer))

  test('stops before the end is an error', async () => {
    const block = '{"event":"block","chainId":"137","blockNumber":1,"txHashes":["0x1"]}\n'
    const { exitCode, io } = await against(`${block}{"event":"snap`)
    expect([exitCode, io.errors.join()]).toEqual([1, expect.stringContaining('was lost before the scenario')])
  })

  test('is newer, and sends unknown events, is read to its end', async () => {
    const done = '{"event":"done","scenario":"payment","payments":1,"snapshots":1}\n'
    const { exitCode, io } = await against(`{"event":"reconciled"}\n${done}`)
    expect([exitCode, io.lines]).toEqual([0, ['done     1 payment, 1 snapshot']])
  })

  test('sends one event of each kind gets a line for each', async () => {
    const snapshot = { event: 'snapshot', chainId: '137', txHash: '0x1', version: 1, body: '{"memo":"\u001b"}' }
    const delivery = { event: 'delivery', txHash: '0x1', version: 1, expected: 'stale', status: 204 }
    const reorg = { event: 'reorganized', txHash: '0x1', included: true }
    const share = { event: 'share', request: {}, status: 200, answer: {} }
    const events = [
      { event: 'block', chainId: '137', blockNumber: 7, txHashes: ['0x1'] },
      { event: 'block', chainId: '137', blockNumber: 8, txHashes: ['0x2', '0x3'] },
      { event: 'update', txHash: '0x1', state: 'pending' },
      ...[{ ...snapshot, state: null }, delivery, { ...delivery, status: null }],
      ...[reorg, { ...reorg, included: false }, share, { ...share, status: 422 }],
      { event: 'failed', reason: 'The receiver did not accept version 1 (503).' },
    ]
    const { exitCode, io } = await against(events.map((event) => `${JSON.stringify(event)}\n`).join(''))
    expect(io.lines).toEqual([
      ...['payment  0x1   chain 137, block 7', 'payments 2   chain 137, block 8', 'update   0x1   pending'],
      ...['snapshot 0x1   none   v1', '{"memo":"\\u001b"}'],
      ...[204, 'none'].map((answer) => `again    0x1   v1, which is stale now: answer ${answer}`),
      ...['reorg    0x1   is in a new block: no new version', 'reorg    0x1   left the chain'],
      ...['share    {}', '         200 {}', 'share    {}', '         422 {}'],
      '         The verdict is RED, so a second share gets this answer; nothing failed.',
      'failed   The receiver did not accept version 1 (503).',
    ])
    expect(exitCode).toBe(1)
  })

  test.each([
    ['something else', '<html>\n'],
    ['an event of 33 levels', `{"event":"a","a":${'['.repeat(32)}${']'.repeat(32)}}\n`],
    ['a line without end', 'x'.repeat(1_100_000)],
  ])('sends %s is an error', async (_, answer) => {
    const { exitCode, io } = await against(answer)
    expect([exitCode, io.errors.join()]).toEqual([1, expect.stringContaining('something other than events')])
  })

  test('explains a rejection by a text without end is an error at once', async () => {
    const { exitCode, io } = await againstServer((_, response) => {
      response.writeHead(500).on('error', () => undefined)
      const more = () => {
        while (!response.destroyed && response.write(' '.repeat(65_536))) {}
      }
      response.on('drain', more)
      more()
    })
    expect([exitCode, io.errors]).toEqual([1, ['The server answers 500']])
  })
})
