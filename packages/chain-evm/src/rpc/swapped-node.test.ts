/** An address behind which the node is replaced by a node of another chain, between any two answers. */
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { bridgedOf, fillLog } from '../../test/across-logs.js'
import { bridgeDeposit } from '../../test/bridge-deposit.js'
import { testRouter } from '../../test/contracts.generated.js'
import { emits } from '../../test/conversion-chain.js'
import { readAll } from '../../test/read-all.js'
import { openSwappingAddress } from '../../test/swapping-address.js'
import { receiver, useTestChain } from '../../test/test-chain.js'
import { createAcrossFulfillmentSource } from '../bridge/across-fulfillment-source.js'
import { devToken } from '../dev/contracts.generated.js'
import type { EvmChainOptions } from '../evm-chain.js'
import { createEvmChain, type EvmChain } from '../evm-chain.js'

/** Both chains have the same contracts at the same addresses, and payments at the same height. */
async function prepare(chainId: number, symbol: string, decimals: number, payments: bigint) {
  const node = await useTestChain([], chainId)
  const router = await node.deploy(testRouter)
  const token = await node.deploy(devToken, [symbol, decimals])
  const from = await node.mine()
  const { hash: txHash } = await node.call(testRouter, router, 'emitMany', [payments, receiver, token, 5n, false])
  return { node, router, token, from, txHash, to: await node.mine(3) }
}

const ours = await prepare(31_337, 'USDC', 6, 1n)
const other = await prepare(5, 'FAKE', 18, 2n)
const output = { token: ours.token, amount: 490n }
const deposit = bridgeDeposit({ depositId: '7', output, payment: { blockTimestamp: 1_700_000_000_000 } })
// The other chain is one block longer, without the fill.
await ours.node.execute({ to: ours.router, data: emits(fillLog('FilledRelay', bridgedOf(deposit))) })
await other.node.mine(2)
const address = await openSwappingAddress(ours.node.rpcUrl)
let opened: { close(): void }[] = []
afterEach(() => {
  for (const one of opened) one.close()
  opened = []
})
afterAll(() => address.close())

/** The read that is repeated, through connections of its own. */
type Reader = () => Promise<unknown>

const onChain =
  (read: (chain: EvmChain) => Promise<unknown>, options: Partial<EvmChainOptions> = {}) =>
  (url: string): Reader => {
    const routers = [{ address: ours.router, version: '0.7' }]
    const chain = createEvmChain({ chainId: 31_337, rpcUrl: url, routers, requestTimeoutMs: 600_000, ...options })
    opened.push(chain)
    return () => read(chain)
  }

function fulfillment(url: string): Reader {
  const destination = { nodes: [{ url }], spokePool: ours.router, confirmations: 0 }
  const source = createAcrossFulfillmentSource({ chains: new Map([[31_337, destination]]) })
  opened.push(source)
  return () => source.lookup(deposit)
}

const far = { head: 1_000_000 }
const reads: readonly (readonly [string, (url: string) => Reader])[] = [
  ['the head', onChain((chain) => chain.head())],
  ['a block', onChain((chain) => chain.block(ours.to))],
  ['what became of a transaction', onChain((chain) => chain.transactionFate(ours.txHash))],
  ['blocks near the head', onChain((chain) => readAll(chain, ours.from, ours.to))],
  ['blocks further back', onChain((chain) => readAll(chain, ours.from, ours.to, far))],
  ['blocks on trust', onChain((chain) => readAll(chain, ours.from, ours.to), { proof: 'none' })],
  ['a fulfillment', fulfillment],
]

test('both chains hold payments under the same addresses, and differ', async () => {
  expect([other.router, other.token, other.from]).toEqual([ours.router, ours.token, ours.from])
  const routers = [{ address: other.router, version: '0.7' }]
  const foreign = createEvmChain({ chainId: 5, rpcUrl: other.node.rpcUrl, routers, requestTimeoutMs: 600_000 })
  opened.push(foreign)
  const { payments } = await readAll(foreign, ours.from, ours.to)
  expect(payments.map(({ tokenOut: { symbol } }) => symbol)).toEqual(['FAKE', 'FAKE'])
})

describe.each([
  ['over HTTP, with its connections cut', 'http:', true],
  ['over HTTP, behind a gateway that keeps the connections', 'http:', false],
  ['over a WebSocket', 'ws:', true],
] as const)('a node that takes the place of ours %s', (_, protocol, cut) => {
  test.each(reads)('has no part in %s, whichever answer it comes after', async (_name, open) => {
    const url = `${protocol}//${address.host}`
    address.swap(ours.node.rpcUrl, true)
    const expected = await open(url)()
    let isSwapped = true
    for (let answers = 0; isSwapped; answers += 1) {
      address.swap(ours.node.rpcUrl, true)
      const read = open(url)
      if (answers === 0) address.swap(other.node.rpcUrl, cut)
      else address.swapAfter(answers, other.node.rpcUrl, cut)
      const before = address.pieces()
      const outcome = await read().catch((error: unknown) => error)
      isSwapped = answers === 0 || address.pieces() - before >= answers
      if (outcome instanceof Error) expect(outcome).toMatchObject({ name: 'ChainError' })
      else expect(outcome).toEqual(expected)
      if (isSwapped) await expect(read()).rejects.toMatchObject({ name: 'ChainError' })
    }
    expect(expected).not.toBeNull()
  })
})
