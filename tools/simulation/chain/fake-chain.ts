/** A chain in memory that grows, forks and drops branches. @module */
import type { Draws } from '../random.js'
import { type FakeBlock, makeBlock } from './block.js'
import type { FakeTransaction } from './transaction.js'

/** The true chain, and the changes to it. */
export interface FakeChain {
  readonly chainId: number
  /** The newest block of the canonical branch. */
  readonly tip: FakeBlock
  /** Every transaction that was ever mined, on any branch. */
  readonly everMined: ReadonlyMap<string, FakeTransaction>
  /** Mines a block on the tip. */
  mine(transactions: readonly FakeTransaction[], timestamp: number): FakeBlock
  /**
   * Removes the newest `depth` blocks of the canonical branch; the next block is mined on the one below them.
   * @returns Their transactions, oldest first.
   */
  fork(depth: number): FakeTransaction[]
}

/** Starts a chain with its genesis. @param hasCustomHash - Whether the chain computes block hashes in its own way. */
export function createFakeChain(chainId: number, draws: Draws, genesisTime: number, hasCustomHash = false): FakeChain {
  const kind = () => ({ salt: draws.hex(8), hasCustomHash })
  let tip = makeBlock(null, [], genesisTime, kind())
  const everMined = new Map<string, FakeTransaction>()
  return {
    chainId,
    get tip() {
      return tip
    },
    everMined,
    mine(transactions, timestamp) {
      for (const transaction of transactions) everMined.set(transaction.hash, transaction)
      tip = makeBlock(tip, transactions, Math.max(timestamp, tip.timestamp), kind())
      return tip
    },
    fork(depth) {
      const orphaned: FakeTransaction[] = []
      for (let step = 0; step < depth && tip.parent !== null; step += 1) {
        orphaned.unshift(...tip.transactions)
        tip = tip.parent
      }
      return orphaned
    },
  }
}

/** The block at a height of the branch that ends in `tip`, or null. */
export function blockAt(tip: FakeBlock, number: number): FakeBlock | null {
  let block: FakeBlock | null = tip
  while (block !== null && block.number > number) block = block.parent
  return block?.number === number ? block : null
}

/** The branch that ends in `tip`, newest first. */
export function* getBranch(tip: FakeBlock): Generator<FakeBlock> {
  for (let block: FakeBlock | null = tip; block !== null; block = block.parent) yield block
}
