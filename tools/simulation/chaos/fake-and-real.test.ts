import { toHex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bloomOf, type FilteredLog } from '../chain/bloom.js'
import { encodeRlp, hexBytes, type RlpItem, wholeBytes } from '../chain/rlp.js'
import { trieRoot } from '../chain/trie.js'
import { drawsOf } from '../random.js'
import { type AnvilChain, startAnvilChain } from './anvil-chain.js'

interface RealReceipt {
  readonly type: string
  readonly status: string
  readonly cumulativeGasUsed: string
  readonly logs: readonly (FilteredLog & { readonly data: string })[]
}

let chain: AnvilChain
beforeAll(async () => {
  chain = await startAnvilChain()
})
afterAll(() => chain.stop())

describe('the hashes of the fake chain are made as those of a real one', () => {
  test.each([0, 1, 2, 5, 18])(
    'a block of %i payments has the filter and the receipts root that anvil gives it',
    async (count) => {
      await chain.reset()
      const draws = drawsOf(`receipts ${count}`)
      for (let index = 0; index < count; index += 1)
        await chain.rpc('eth_sendRawTransaction', (await chain.sign(draws)).raw)
      await chain.rpc('evm_mine')
      const block = await chain.rpc<{ receiptsRoot: string; logsBloom: string; number: string }>(
        'eth_getBlockByNumber',
        'latest',
        false,
      )
      const receipts = await chain.rpc<RealReceipt[]>('eth_getBlockReceipts', block.number)
      expect(receipts).toHaveLength(count)
      expect(toHex(bloomOf(receipts.flatMap(({ logs }) => logs)))).toBe(block.logsBloom)
      expect(trieRoot(receipts.map(receiptBytes))).toBe(block.receiptsRoot)
    },
  )
})

function receiptBytes({ type, status, cumulativeGasUsed, logs }: RealReceipt): Uint8Array {
  const body = encodeRlp([
    wholeBytes(Number(status)),
    wholeBytes(BigInt(cumulativeGasUsed)),
    bloomOf(logs),
    logs.map(({ address, topics, data }): RlpItem => [hexBytes(address), topics.map(hexBytes), hexBytes(data)]),
  ])
  return type === '0x0' ? body : Buffer.concat([Uint8Array.of(Number(type)), body])
}
