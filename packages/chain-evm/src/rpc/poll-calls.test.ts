/** How many calls polling takes, with and without announced blocks. */
import { getHeadPollMs } from '@payment-integration/core/internal'
import { expect, test } from 'vitest'
import { openProofChain } from '../../test/proof-chain.js'
import type { EvmChain } from '../evm-chain.js'

const pollMs = 1_000
const minute = 60_000

const chain = await openProofChain()

/** Polls for so long as the service does, while no block is mined; resolves the calls that the node was asked. */
async function callsIn(opened: EvmChain, ms: number): Promise<string[]> {
  const requests = await chain.during(async () => {
    for (let passed = 0; passed < ms; passed += getHeadPollMs(opened, pollMs)) await opened.head()
  })
  return requests.flat()
}

test('a poll costs two calls; announced blocks make polls ten times rarer, until the subscription ends', async () => {
  const headsUrl = chain.node.rpcUrl.replace('http:', 'ws:')
  const opened = chain.open({ nodes: [{ url: chain.front.url, headsUrl }] })
  await opened.head()
  const plain = await callsIn(opened, 2 * minute)
  expect(plain.filter((method) => method === 'eth_getBlockByNumber')).toHaveLength(120)
  expect(plain).toHaveLength(240)

  const controller = new AbortController()
  const watching = opened.watch(() => {}, controller.signal)
  // A block from before the subscription is not announced.
  while (!opened.announcesBlocks?.()) {
    await chain.node.mine()
    await opened.head()
  }
  expect(await callsIn(opened, 2 * minute)).toHaveLength(24)

  controller.abort()
  await watching
  expect(await callsIn(opened, 2 * minute)).toHaveLength(240)
})
