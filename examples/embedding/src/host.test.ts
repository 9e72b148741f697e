import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Anvil, DevDeployment } from '@payment-integration/chain-evm/dev'
import { createPayer, deployDevRouter, startAnvil } from '@payment-integration/chain-evm/dev'
import { createClient, isClientError } from '@payment-integration/client'
import type { ServiceEvent } from '@payment-integration/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Host, type HostOptions, startHost } from './host.js'

const integrationAddress = '0xabcdef0123456789abcdef0123456789abcdef01'
const receiver = '0x2222222222222222222222222222222222222222'

let anvil: Anvil
let deployment: DevDeployment
let folder: string
let host: Host
const masterKey = randomBytes(32).toString('hex')
const events: ServiceEvent[] = []

async function start(changes: Partial<HostOptions> = {}): Promise<Host> {
  return startHost({
    databasePath: join(folder, 'payments.db'),
    masterKey,
    chainId: anvil.chainId,
    rpcUrl: anvil.rpcUrl,
    routers: [deployment.router],
    startBlock: 0,
    port: 0,
    onEvent: (event) => void events.push(event),
    ...changes,
  })
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'embedding-'))
  anvil = await startAnvil()
  deployment = await deployDevRouter(anvil)
  host = await start()
})

afterAll(async () => {
  await host?.stop()
  await anvil?.stop()
  await rm(folder, { recursive: true, force: true })
})

test('a payment on the chain can be read from the host, before and after a restart of it', async () => {
  const { apiSecret } = await host.service.integrations.create({ address: integrationAddress })
  const payer = createPayer({ ...anvil, deployment })
  const txHash = await payer.pay({ integrationAddress, receiver, amount: 12_500_000n, memo: 'order 7' })
  const indexed = { type: 'payment.indexed', txHash, integrationAddress }
  await expect.poll(() => events).toContainEqual(expect.objectContaining(indexed))

  const read = () => {
    const client = createClient({ baseUrl: `${host.url}/payments-service`, integrationAddress, apiSecret })
    return client.wallet(payer.address).get(txHash)
  }
  const payment = await read()
  expect(payment).toMatchObject({ txHash, version: 1, sender: payer.address, receiver })
  expect(payment.tokenOut).toMatchObject({ symbol: 'USDC', amountGross: '12.5' })

  await host.stop()
  host = await start()
  expect(await read()).toEqual(payment)
})

test('the host serves its own pages, and the payment API has its own authentication', async () => {
  expect(await (await fetch(host.url)).text()).toBe('The host application')
  const baseUrl = `${host.url}/payments-service`
  const stranger = createClient({ baseUrl, integrationAddress, apiSecret: 'not the secret' })
  const error = await stranger.payments.list().catch((thrown: unknown) => thrown)
  expect(isClientError(error) && error.code).toBe('ERR_UNAUTHORIZED')
})

test.each<[string, () => Partial<HostOptions>, object]>([
  ['its port is in use', () => ({ port: Number(new URL(host.url).port) }), { code: 'EADDRINUSE' }],
  ['its master key is malformed', () => ({ masterKey: 'short' }), { name: 'RangeError' }],
])('a host that cannot start because %s closes its database', async (_case, changes, reason) => {
  const own = await mkdtemp(join(folder, 'own-'))
  await expect(start({ databasePath: join(own, 'payments.db'), ...changes() })).rejects.toMatchObject(reason)
  // A closed store has an empty write-ahead log; an open one still has the migration in it.
  const log = await stat(join(own, 'payments.db-wal')).catch(() => ({ size: 0 }))
  expect(log.size).toBe(0)
})
