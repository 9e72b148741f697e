import { createPayer, deployDevRouter, startAnvil } from '@payment-integration/chain-evm/dev'
import { toHex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  computeBloom,
  computeTrieRoot,
  encodeRlp,
  encodeWhole,
  type FilteredLog,
  parseHex,
  type RlpItem,
} from './encoding.js'

type RealBlock = Readonly<Record<'receiptsRoot' | 'logsBloom' | 'number', string>>
interface RealReceipt extends Readonly<Record<'type' | 'status' | 'cumulativeGasUsed', string>> {
  readonly logs: readonly (FilteredLog & { readonly data: string })[]
}

let chain: Awaited<ReturnType<typeof openChain>>
beforeAll(async () => {
  chain = await openChain()
})
afterAll(() => chain.stop())

/** anvil with a router, which mines on demand. */
async function openChain() {
  const anvil = await startAnvil({ args: ['--no-mining'] })
  const rpc = async <T>(method: string, ...params: unknown[]): Promise<T> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const answer = await fetch(anvil.rpcUrl, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
    return ((await answer.json()) as { result: T }).result
  }
  const mining = setInterval(() => void rpc('evm_mine'), 20)
  const payer = createPayer({ ...anvil, deployment: await deployDevRouter(anvil) })
  const parties = { integrationAddress: `0x${'a1'.repeat(20)}`, receiver: `0x${'e1'.repeat(20)}` } as const
  const pay = (memo: string) => payer.pay({ ...parties, amount: 1_000_000n, memo })
  await pay('mints and approves, too')
  clearInterval(mining)
  return { rpc, pay, stop: anvil.stop }
}

test.each([0, 1, 2, 5, 18])(
  'a block of %i payments has the filter and the receipts root that anvil gives it',
  async (count) => {
    await chain.rpc('evm_mine')
    for (let index = 0; index < count; index += 1) await chain.pay(`order ${index}`)
    await chain.rpc('evm_mine')
    const block = await chain.rpc<RealBlock>('eth_getBlockByNumber', 'latest', false)
    const receipts = await chain.rpc<RealReceipt[]>('eth_getBlockReceipts', block.number)
    expect(receipts).toHaveLength(count)
    expect(toHex(computeBloom(receipts.flatMap(({ logs }) => logs)))).toBe(block.logsBloom)
    expect(computeTrieRoot(receipts.map(encodeReceipt))).toBe(block.receiptsRoot)
  },
)

function encodeReceipt({ type, status, cumulativeGasUsed, logs }: RealReceipt): Uint8Array {
  const body = encodeRlp([
    encodeWhole(Number(status)),
    encodeWhole(BigInt(cumulativeGasUsed)),
    computeBloom(logs),
    logs.map(({ address, topics, data }): RlpItem => [parseHex(address), topics.map(parseHex), parseHex(data)]),
  ])
  return type === '0x0' ? body : Buffer.concat([Uint8Array.of(Number(type)), body])
}
