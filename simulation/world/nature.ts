/**
 * What happens to the chain whether or not anybody looks: blocks, forks, and transactions that come back or never do.
 * @module
 */
import type { FakeBlock } from '../chain/block.js'
import { createFakeChain, type FakeChain } from '../chain/fake-chain.js'
import { drawTransaction, type FakeTransaction } from '../chain/transaction.js'
import type { Draws } from '../random.js'
import type { Plan } from './plan.js'

/** The chain and what moves it. */
export interface Nature {
  readonly chain: FakeChain
  /** Mines a block with some of the transactions that wait. */
  mine(): void
  /** A fork as the plan allows it; the branch that counts is then at least as long as before, most often. */
  fork(): void
  /** Ends all change but empty blocks, after everything that waits was mined or thrown away. */
  rest(): void
  /** Calls `told` after every change of the chain from now on. */
  onChange(told: () => void): void
  /** How many forks there were. */
  readonly forks: number
}

/** How much time a block takes on the chain, in seconds; some blocks share a time. */
const blockSeconds = [0, 1, 2, 12]
/** Chance that a transaction of a block that left the chain waits to be mined again; the others are gone. */
const returnChance = 0.65

/** Starts the chain with its history. @param startSeconds - Unix time of the genesis. */
export function createNature(chainId: number, plan: Plan, draws: Draws, startSeconds: number): Nature {
  const chain = createFakeChain(chainId, draws.fork('salts'), startSeconds, plan.oddHashes)
  let nonce = 0
  let seconds = startSeconds
  let forks = 0
  let told = () => {}
  /** Transactions that left the chain and may come back, each with the height from which on it does. */
  let waiting: { readonly transaction: FakeTransaction; readonly from: number }[] = []
  /** Highest block that anybody may have seen: nothing but a deep fork leaves the chain below its finality. */
  let highest: FakeBlock = chain.tip

  function mineBlock(transactions: readonly FakeTransaction[]): void {
    seconds += draws.pick(blockSeconds)
    chain.mine(transactions, seconds)
    if (chain.tip.number > highest.number) highest = chain.tip
  }

  function mine(): void {
    const height = chain.tip.number + 1
    const back = waiting.filter(({ from }) => from <= height).slice(0, 3)
    waiting = waiting.filter((each) => !back.includes(each))
    const fresh = Array.from({ length: draws.pick([0, 0, 1, 1, 2, 3]) }, () => drawTransaction(draws, nonce++))
    mineBlock(draws.shuffled([...back.map(({ transaction }) => transaction), ...fresh]))
    told()
  }

  function fork(): void {
    if (plan.forks === 'none') return
    // A block is final with so many on top of it, so the deepest fork takes off as many and no more.
    const floor = plan.forks === 'deep' ? 0 : Math.max(0, highest.number - plan.finalityBlocks)
    const most = chain.tip.number - floor
    if (most < 1) return
    const depth = draws.chance(0.45)
      ? draws.whole(1, Math.min(2, most))
      : draws.whole(1, Math.min(most, 2 * plan.finalityBlocks))
    forks += 1
    for (const transaction of chain.fork(depth))
      if (draws.chance(returnChance)) {
        const late = draws.chance(0.2) ? plan.finalityBlocks * 2 : draws.whole(0, depth)
        waiting.push({ transaction, from: chain.tip.number + 1 + late })
      }
    const grown = depth + draws.pick([-1, 0, 1, 1, 1, 2])
    for (let block = 0; block < Math.max(1, grown); block += 1) mine()
  }

  for (let block = 0; block < plan.history; block += 1) mine()
  return {
    chain,
    mine,
    fork,
    onChange(callback) {
      told = callback
    },
    get forks() {
      return forks
    },
    rest() {
      if (draws.chance(0.5)) mineBlock(waiting.map(({ transaction }) => transaction))
      waiting = []
      const until = Math.max(highest.number, chain.tip.number) + 2 * plan.finalityBlocks
      while (chain.tip.number < until) mineBlock([])
      told()
    },
  }
}
