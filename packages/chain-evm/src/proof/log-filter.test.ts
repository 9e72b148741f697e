import { expect, test } from 'vitest'
import { testRouter } from '../../test/contracts.generated.js'
import { receiver, useTestChain } from '../../test/test-chain.js'
import { yodlTopic } from '../decode/router-events.js'
import { loadKeccak } from './keccak.js'
import { createFilterTest } from './log-filter.js'

await loadKeccak()

const otherTopic = `0x${'ab'.repeat(32)}`
const node = await useTestChain()
const empty = `0x${'00'.repeat(256)}`

/** Sets `count` more bits that are not set yet, lowest first. */
function fill(filter: string, count: number): string {
  let bits = BigInt(filter)
  for (let bit = 0n, left = count; left > 0; bit++)
    if ((bits & (1n << bit)) === 0n) {
      bits |= 1n << bit
      left -= 1
    }
  return `0x${bits.toString(16).padStart(512, '0')}`
}
const bitsIn = (filter: string) => BigInt(filter).toString(2).replaceAll('0', '').length

test('the filter of a real block is right about its logs unless it is too full', async () => {
  const router = await node.deploy(testRouter)
  const { blockNumber } = await node.call(testRouter, router, 'emitMany', [1n, receiver, receiver, 5n, false])
  const height = `0x${blockNumber.toString(16)}`
  const { logsBloom } = await node.rpc<{ logsBloom: string }>('eth_getBlockByNumber', height, false)
  const ask = createFilterTest([receiver, router], [otherTopic, yodlTopic])
  expect(ask(logsBloom)).toBe('likely')
  expect(ask(fill(logsBloom, 640 - bitsIn(logsBloom)))).toBe('likely')
  expect(ask(fill(logsBloom, 641 - bitsIn(logsBloom)))).toBe('possible')
  expect(ask(fill(empty, 2048))).toBe('possible')
  expect(ask(empty)).toBe('no')
  expect(createFilterTest([receiver.replace('b2', 'b3')], [yodlTopic])(logsBloom)).toBe('no')
  expect(createFilterTest([router], [otherTopic])(logsBloom)).toBe('no')
})
