import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Anvil, DevDeployment } from '@payment-integration/chain-evm/dev'
import { deployDevRouter, deriveDevAccount, startAnvil } from '@payment-integration/chain-evm/dev'
import { createWalletClient, defineChain, encodeFunctionData, http, parseAbi, stringToHex, toHex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Arrived, startRecordingReceiver } from '../../../server/test/support/recording-receiver.js'
import { runToEnd, startProcess } from '../start-process.js'

const integration = `0x${randomBytes(20).toString('hex')}`
const merchant = `0x${randomBytes(20).toString('hex')}`
const processorSecret = randomBytes(24).toString('hex')

// A schema 0 suffix written by hand from ERC-8021: codes, their length, the schema id, the marker.
function erc8021(code: string) {
  const codes = Buffer.from(code, 'ascii')
  return toHex(Buffer.concat([codes, Uint8Array.of(codes.length, 0), Buffer.from('8021'.repeat(8), 'hex')]))
}

type Snapshot = { readonly version: number; readonly state: string | null } & Record<string, unknown>
type Delivery = Arrived & { readonly snapshot: Snapshot }

/** Recomputes the signature of docs/interface.md 6 over the bytes that arrived, without product code. */
function signatureIsGenuine({ headers, body }: Arrived, secret: string): boolean {
  const match = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-service-signature']))
  if (match === null) return false
  const [, t = '', v1 = ''] = match
  const expected = createHmac('sha256', secret).update(`${t}.`).update(body).digest()
  return timingSafeEqual(expected, Buffer.from(v1, 'hex')) && Math.abs(Date.now() / 1000 - Number(t)) < 300
}

describe('the first payment, end to end, on a real chain', () => {
  let folder: string
  let anvil: Anvil
  let deployment: DevDeployment
  let receiver: Awaited<ReturnType<typeof startRecordingReceiver>>
  let env: Record<string, string>
  let server: ReturnType<typeof startProcess>
  let url: string
  let apiSecret: string
  let signingSecret: string
  let txHash: string

  async function serve() {
    server = startProcess(['serve', '--json'], env)
    url = JSON.parse(await server.line('"listening"')).url
  }
  async function kill(signal: NodeJS.Signals) {
    server.child.kill(signal)
    return (await server.exited)[0]
  }
  async function read(path: string, authorization?: string) {
    const basic = `Basic ${Buffer.from(`${integration}:${apiSecret}`).toString('base64')}`
    const response = await fetch(`${url}${path}`, { headers: { authorization: authorization ?? basic } })
    const { status, headers } = response
    return { status, headers, json: (await response.json()) as Record<string, unknown> }
  }
  const ofVersion = (version: number) =>
    receiver.arrived
      .map((each): Delivery => ({ ...each, snapshot: JSON.parse(each.body.toString()) }))
      .filter(({ snapshot }) => snapshot.version === version)
  /** Resolves the newest delivery of a version once so many have arrived. */
  async function arrival(version: number, count = 1) {
    await expect.poll(() => ofVersion(version).length, { timeout: 300_000, interval: 10 }).toBeGreaterThanOrEqual(count)
    return ofVersion(version)[count - 1] as Delivery
  }
  async function update(change: object) {
    const body = JSON.stringify({ id: randomBytes(8).toString('hex'), chainId: '31337', txHash, ...change })
    const t = Math.floor(Date.now() / 1000)
    const v1 = createHmac('sha256', processorSecret).update(`${t}.${body}`).digest('hex')
    const headers = { 'content-type': 'application/json', 'x-service-signature': `t=${t},v1=${v1}` }
    const response = await fetch(`${url}/api/v1/processor/updates`, { method: 'POST', headers, body })
    return { status: response.status, json: (await response.json()) as Record<string, unknown> }
  }
  async function pay() {
    const account = deriveDevAccount(1)
    const nativeCurrency = { name: 'Ether', symbol: 'ETH', decimals: 18 }
    const rpcUrls = { default: { http: [anvil.rpcUrl] } }
    const chain = defineChain({ id: 31_337, name: 'e2e', nativeCurrency, rpcUrls })
    const wallet = createWalletClient({ account, chain, transport: http(), dataSuffix: erc8021(integration) })
    const router = parseAbi(['function pay(bytes32 memo, uint256 amount, address token, address receiver) payable'])
    const native = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'
    const amount = 1_250_000_000_000_000_000n
    const args = [stringToHex('order-7', { size: 32 }), amount, native, merchant as `0x${string}`] as const
    const data = encodeFunctionData({ abi: router, functionName: 'pay', args })
    return wallet.sendTransaction({ to: deployment.router.address, data, value: amount })
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pi-e2e-'))
    ;[anvil, receiver] = await Promise.all([startAnvil(), startRecordingReceiver()])
    deployment = await deployDevRouter(anvil)
    env = {
      PI_ENV: 'development',
      PI_PORT: '0',
      PI_DATABASE_URL: `sqlite:${join(folder, 'e2e.db')}`,
      PI_MASTER_KEY: randomBytes(32).toString('base64url'),
      PI_PROCESSOR_SECRETS: processorSecret,
      PI_RPC_URL_31337: anvil.rpcUrl,
      PI_START_BLOCK_31337: '0',
      PI_POLL_MS_31337: '50',
      PI_ROUTERS_31337: `${deployment.router.address}@${deployment.router.version}`,
    }
    const created = await runToEnd(['integrations', 'create', integration, '--url', `${receiver.url}/hook`], env)
    expect(created.errors, 'integrations create').toEqual([])
    ;({ apiSecret, signingSecret } = created.events[0] as { apiSecret: string; signingSecret: string })
    await serve()
  })

  afterAll(async () => {
    server?.child.kill('SIGKILL')
    await Promise.all([anvil?.stop(), receiver?.stop()])
    if (folder !== undefined) await rm(folder, { recursive: true, force: true })
  })

  it('a mined payment that names the integration arrives as a signed version 1', async () => {
    txHash = await pay()
    const first = await arrival(1)
    expect(signatureIsGenuine(first, signingSecret)).toBe(true)
    expect(first.headers).toMatchObject({ 'x-service-integration': integration, 'content-type': 'application/json' })
    const name = { integrationAddress: integration, chainId: '31337', txHash }
    expect(first.snapshot).toEqual({ ...name, version: 1, state: null, recipient: null, invoice: null })
  })

  it('a signed processor update moves the state and arrives as version 2', async () => {
    const recipient = { title: 'Café', subtitle: 'Table 4' }
    const invoice = { amount: '1.25', currency: 'EUR', settlementAmount: '1.25', settlementCurrency: 'EUR' }
    const applied = { status: 200, json: { outcome: 'applied', version: 2 } }
    expect(await update({ state: 'pending', recipient, invoice })).toMatchObject(applied)
    const second = await arrival(2)
    expect(signatureIsGenuine(second, signingSecret)).toBe(true)
    expect(second.snapshot).toMatchObject({ version: 2, state: 'pending', recipient, invoice })
  })

  it('the payment reads back over HTTP with the same seven fields and the on-chain facts', async () => {
    const single = await read(`/api/v1/integration/payments/${txHash}`)
    expect(single.status).toBe(200)
    expect(single.headers.get('cache-control')).toBe('private, no-store')
    expect(single.json).toMatchObject((await arrival(2)).snapshot)
    const amounts = { tokenIn: { amount: '1.25' }, tokenOut: { amountGross: '1.25', amountNet: '1.2475' } }
    const parties = { sender: deriveDevAccount(1).address.toLowerCase(), receiver: merchant, memo: 'order-7' }
    expect(single.json).toMatchObject({ ...parties, ...amounts, source: { chainId: '31337', txHash } })
    expect((await read('/api/v1/integration/payments')).json).toEqual({ payments: [single.json], nextCursor: null })
    expect((await read(`/api/v1/integration/wallet/${merchant}/payments/${txHash}`)).json).toEqual(single.json)
  })

  it('the same call without the right secret is the one 401', async () => {
    const credentials = Buffer.from(`${integration}:x`).toString('base64')
    const wrong = await read('/api/v1/integration/payments', `Basic ${credentials}`)
    expect(wrong).toMatchObject({ status: 401, json: { error: 'Unauthorized' } })
  })

  it('killed while a delivery is in flight, its lease brings it back after the restart: same bytes, new signature', async () => {
    const { answer } = receiver
    receiver.answer = () => undefined
    expect(await update({ state: 'success' })).toMatchObject({ status: 200, json: { version: 3 } })
    const heldDelivery = await arrival(3)
    await kill('SIGKILL')
    receiver.answer = answer
    await serve()
    expect((await read(`/api/v1/integration/payments/${txHash}`)).json).toMatchObject({ version: 3, state: 'success' })
    const delivered = await arrival(3, 2)
    expect(delivered.body.equals(heldDelivery.body)).toBe(true)
    expect(signatureIsGenuine(delivered, signingSecret)).toBe(true)
  })

  it('killed after the commit, before any attempt reached the receiver, the server delivers once after the restart', async () => {
    await receiver.stop()
    expect(await update({ state: 'refund_pending' })).toMatchObject({ status: 200, json: { version: 4 } })
    await kill('SIGKILL')
    receiver = await startRecordingReceiver(Number(new URL(receiver.url).port))
    await serve()
    const delivered = await arrival(4)
    expect(signatureIsGenuine(delivered, signingSecret)).toBe(true)
    expect(delivered.snapshot).toMatchObject({ txHash, version: 4, state: 'refund_pending' })
    // A clean stop ends whatever was under way, so what has not come a second time by then was not sent.
    expect(await kill('SIGTERM')).toBe(0)
    expect(ofVersion(4)).toHaveLength(1)
  })
})
