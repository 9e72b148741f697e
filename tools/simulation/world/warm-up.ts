/** Runs the product's one-time loading in real time: other threads compile WebAssembly hashing. @module */
import { createEvmChain } from '@payment-integration/chain-evm'
import { custom } from 'viem'
import { createFakeChain } from '../chain/fake-chain.js'
import { cast } from '../chain/transaction.js'
import type { Call } from '../node/calls.js'
import { answerFrom } from '../node/fake-node.js'
import { drawsOf } from '../random.js'

const chainId = 31_337
let warm: Promise<void> | undefined

/** Resolves when everything is loaded; a second call is free. */
export function warmUp(): Promise<void> {
  warm ??= readOneBlock()
  return warm
}

async function readOneBlock(): Promise<void> {
  const { tip } = createFakeChain(chainId, drawsOf('warm up'), 1_700_000_000)
  const transport = custom({
    async request(call: Call) {
      const outcome = answerFrom(chainId, tip, call)
      if ('error' in outcome) throw new Error(outcome.error.message)
      return outcome.result
    },
  })
  const chain = createEvmChain({ chainId, transport, routers: cast.routers })
  for await (const { last } of chain.ranges({ from: 0, to: 0, head: 0 }))
    if (last.hash !== tip.hash) throw new Error('The product rejects a valid block.')
  chain.close()
}
