/** A chain in memory: the test mines its blocks and reorganises them. @module */

import { ChainError } from '@payment-integration/core'
import type { BlockRange, BlockRef, Chain, PaymentFacts, RangesRequest } from '@payment-integration/core/ports'

/** A payment before its block is known. */
export type UnminedPayment = Omit<PaymentFacts, 'blockNumber' | 'blockHash' | 'blockTimestamp'>

/** A chain that a test moves. */
export interface TwinChain extends Chain {
  /** Appends a block with these payments. */
  mine(payments?: readonly UnminedPayment[]): BlockRef
  /** Removes the newest blocks, the first one excluded, and returns their payments, oldest first. */
  orphan(depth: number): UnminedPayment[]
  /** Height of the newest block. */
  height(): number
}

/** The router of every payment of a twin. */
export const twinRouter = { address: `0x${'7b'.repeat(20)}`, version: '0.8' } as const

/** The dependencies of a chain. */
export interface TwinChainDeps {
  /** Unix time in milliseconds. */
  readonly now: () => number
  /** A new block hash. */
  readonly newHash: () => string
  /** Least time from a block to the next, in milliseconds. */
  readonly stepMs: number
}

/** A block of an earlier process, as a service stored it. */
export interface EarlierBlock {
  readonly blockNumber: number
  readonly blockHash: string
}

/**
 * Makes a chain. It begins with one block: at height 0, or on top of the earlier ones.
 * @param earlier - Blocks that a service has indexed, newest first. They cannot be orphaned.
 */
export function createTwinChain(
  chainId: number,
  { now, newHash, stepMs }: TwinChainDeps,
  earlier: readonly EarlierBlock[] = [],
): TwinChain {
  const start = (earlier[0]?.blockNumber ?? -1) + 1
  const earlierHashes = new Map(earlier.map(({ blockNumber, blockHash }) => [blockNumber, blockHash]))
  const blocks: { readonly ref: BlockRef; readonly payments: readonly PaymentFacts[] }[] = []
  const watchers = new Set<() => void>()
  const endpoint = 'simulated'

  function mine(payments: readonly UnminedPayment[] = []): BlockRef {
    const parent = blocks.at(-1)?.ref
    const timestamp = Math.max(Math.floor(now() / 1_000) * 1_000, (parent?.timestamp ?? 0) + stepMs)
    const parentHash = parent?.hash ?? earlier[0]?.blockHash ?? newHash()
    const ref = { number: start + blocks.length, hash: newHash(), parentHash, timestamp }
    const inBlock = { blockNumber: ref.number, blockHash: ref.hash, blockTimestamp: timestamp }
    blocks.push({ ref, payments: payments.map((payment, logIndex) => ({ ...payment, ...inBlock, logIndex })) })
    for (const wake of watchers) wake()
    return ref
  }

  function newest(): BlockRef {
    const block = blocks.at(-1)
    if (block === undefined) throw gone(0)
    return block.ref
  }

  function gone(height: number): ChainError {
    return new ChainError('ERR_CHAIN_RANGE_GONE', chainId, `Chain ${chainId} of the twin has no block ${height}.`)
  }

  async function* ranges({ from, to, routers }: RangesRequest, signal?: AbortSignal): AsyncGenerator<BlockRange> {
    signal?.throwIfAborted()
    const inside = from < start ? [] : blocks.slice(from - start, to + 1 - start)
    const [first, last] = [inside[0]?.ref, inside.at(-1)?.ref]
    if (first === undefined || last?.number !== to) throw gone(to)
    const payments = inside.flatMap((block) => block.payments)
    const isRead = ({ router }: PaymentFacts) => routers === undefined || routers.includes(router.address)
    const read = { payments: payments.filter(isRead), deposits: [], blocks: inside.map(({ ref }) => ref) }
    yield { first, last, ...read, proof: 'root', endpoint }
  }

  mine()
  return {
    chainId,
    adapter: 'twin',
    routers: [twinRouter.address],
    mine,
    orphan(depth) {
      const orphaned = blocks.splice(Math.max(1, blocks.length - depth))
      return orphaned.flatMap(({ payments }) => payments)
    },
    height: () => newest().number,
    head: async () => newest(),
    async block(number) {
      const hash = earlierHashes.get(number)
      if (hash !== undefined) return { number, hash, parentHash: hash, timestamp: 0 }
      return blocks[number - start]?.ref ?? null
    },
    ranges,
    watch: (wake, signal) =>
      new Promise((resolve) => {
        watchers.add(wake)
        const stop = () => {
          watchers.delete(wake)
          resolve()
        }
        signal.addEventListener('abort', stop, { once: true })
        if (signal.aborted) stop()
      }),
    async transactionFate(txHash) {
      const block = blocks.find(({ payments }) => payments.some((payment) => payment.txHash === txHash))
      return { fate: block === undefined ? 'unknown' : 'succeeded', blockNumber: block?.ref.number ?? null }
    },
    endpoints: () => [
      {
        name: endpoint,
        score: 1,
        inUse: true,
        head: newest().number,
        latencyMs: null,
        failures: 0,
        contradictions: 0,
        failedProofs: 0,
        calls: 0,
        receivedBytes: 0,
        blocks: 0,
        maxRange: 1_000,
        lastError: null,
      },
    ],
  }
}
