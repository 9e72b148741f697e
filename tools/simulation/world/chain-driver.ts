/** Drives the fake chain: mines blocks, forks, and mines orphaned transactions again. @module */
import type { FakeBlock } from '../chain/block.js'
import { createFakeChain, type FakeChain } from '../chain/fake-chain.js'
import { drawTransaction, type FakeTransaction } from '../chain/transaction.js'
import type { Draws } from '../random.js'
import type { Plan } from './plan.js'

/** The chain and its driver. */
export interface ChainDriver {
  readonly chain: FakeChain
  /** Mines a block with some of the pending transactions. */
  mine(): void
  /** Forks as the plan allows; the new branch is mostly at least as long as the old one. */
  fork(): void
  /** Mines or drops all pending transactions, then mines empty blocks until everything is final. */
  finalize(): void
  /** Calls `callback` after every later change of the chain. */
  onChange(callback: () => void): void
  readonly forks: number
}

/** Time between blocks, in seconds; some blocks share a timestamp. */
const blockSeconds = [0, 1, 2, 12]
/** Chance that a transaction of an orphaned block can be mined again; otherwise it is dropped. */
const returnChance = 0.65

/** Starts the chain and mines the history of the plan. @param startSeconds - Unix time of the genesis. */
export function createChainDriver(chainId: number, plan: Plan, draws: Draws, startSeconds: number): ChainDriver {
  const chain = createFakeChain(chainId, draws.fork('salts'), startSeconds, plan.hasCustomHashes)
  let nonce = 0
  let seconds = startSeconds
  let forks = 0
  let notify = () => {}
  /** Transactions that left the chain, each with the lowest block that may contain it again. */
  let waiting: { readonly transaction: FakeTransaction; readonly from: number }[] = []
  /** Highest block so far: only a deep fork removes blocks that are final below it. */
  let highest: FakeBlock = chain.tip

  function mineBlock(transactions: readonly FakeTransaction[]): void {
    seconds += draws.pick(blockSeconds)
    chain.mine(transactions, seconds)
    if (chain.tip.number > highest.number) highest = chain.tip
  }

  function mine(): void {
    const height = chain.tip.number + 1
    const returning = waiting.filter(({ from }) => from <= height).slice(0, 3)
    waiting = waiting.filter((each) => !returning.includes(each))
    const fresh = Array.from({ length: draws.pick([0, 0, 1, 1, 2, 3]) }, () => drawTransaction(draws, nonce++))
    mineBlock(draws.shuffled([...returning.map(({ transaction }) => transaction), ...fresh]))
    notify()
  }

  function fork(): void {
    if (plan.forks === 'none') return
    // A block is final below `finalityBlocks` blocks, so a shallow fork removes at most that many.
    const floor = plan.forks === 'deep' ? 0 : Math.max(0, highest.number - plan.finalityBlocks)
    const maxDepth = chain.tip.number - floor
    if (maxDepth < 1) return
    const depth = draws.chance(0.45)
      ? draws.whole(1, Math.min(2, maxDepth))
      : draws.whole(1, Math.min(maxDepth, 2 * plan.finalityBlocks))
    forks += 1
    for (const transaction of chain.fork(depth))
      if (draws.chance(returnChance)) {
        const delayBlocks = draws.chance(0.2) ? plan.finalityBlocks * 2 : draws.whole(0, depth)
        waiting.push({ transaction, from: chain.tip.number + 1 + delayBlocks })
      }
    const grown = depth + draws.pick([-1, 0, 1, 1, 1, 2])
    for (let block = 0; block < Math.max(1, grown); block += 1) mine()
  }

  for (let block = 0; block < plan.historyBlocks; block += 1) mine()
  return {
    chain,
    mine,
    fork,
    onChange(callback) {
      notify = callback
    },
    get forks() {
      return forks
    },
    finalize() {
      if (draws.chance(0.5)) mineBlock(waiting.map(({ transaction }) => transaction))
      waiting = []
      const until = Math.max(highest.number, chain.tip.number) + 2 * plan.finalityBlocks
      while (chain.tip.number < until) mineBlock([])
      notify()
    },
  }
}
