/** Checks everything that a chain adapter hands over, before anything of it is stored. @module */
import type { BlockRange, Chain, RangesRequest } from '../ports/chain.js'
import { ChainAdapterError } from './chain-adapter-error.js'
import type { Flaw } from './field-flaws.js'
import { blockFlaw, fateFlaw, rangeFlaw } from './range-flaws.js'

const checked = new WeakMap<Chain, Chain>()

/**
 * The chain with its answers checked: hashes, addresses, amounts, places and order. A flawed answer rejects with a
 * ChainAdapterError `ERR_CHAIN_ADAPTER` that names the adapter and the place.
 */
export function createCheckedChain(chain: Chain): Chain {
  const known = checked.get(chain)
  if (known !== undefined) return known
  const { chainId, adapter = 'without a name' } = chain
  const check = (flaw: Flaw) => {
    if (flaw !== null) throw new ChainAdapterError(chainId, adapter, flaw)
  }
  async function* ranges(request: RangesRequest, signal?: AbortSignal): AsyncGenerator<BlockRange> {
    for await (const range of chain.ranges(request, signal)) {
      check(rangeFlaw(range, chainId))
      yield range
    }
  }
  const guarded: Chain = {
    chainId,
    adapter,
    get routers() {
      return chain.routers
    },
    async head(signal) {
      const block = await chain.head(signal)
      check(blockFlaw('head()', block))
      return block
    },
    async block(number, signal) {
      const block = await chain.block(number, signal)
      if (block !== null) check(blockFlaw(`block(${number})`, block))
      return block
    },
    ranges,
    watch: (wake, signal) => chain.watch(wake, signal),
    announcesBlocks: () => chain.announcesBlocks?.() ?? false,
    async transactionFate(txHash, signal) {
      const fate = await chain.transactionFate(txHash, signal)
      check(fateFlaw(fate))
      return fate
    },
    nativeHash: (txHash) => chain.nativeHash?.(txHash) ?? null,
    endpoints: () => chain.endpoints(),
  }
  checked.set(chain, guarded)
  checked.set(guarded, guarded)
  return guarded
}
