import type { PaymentFacts } from '../../src/payments/facts.js'
import type { BlockRef, Chain } from '../../src/ports/chain.js'
import { hashOf, paymentFacts } from './stored-payment.js'

/** A call that the chain was asked. */
export type ChainCall = readonly ['head'] | readonly ['block', number] | readonly ['range', number, number]

/** A chain in memory whose blocks, forks and faults a test decides. */
export interface FakeChain extends Chain {
  /** Appends blocks, each with the payments that `paymentsAt` gives for its height. */
  mine(count: number, paymentsAt?: (height: number) => readonly string[]): void
  /** Drops the newest `depth` blocks and mines `depth` others in their place. */
  fork(depth: number, paymentsAt?: (height: number) => readonly string[]): void
  /** Drops the newest blocks. */
  drop(depth: number): void
  at(height: number): BlockRef
  readonly calls: ChainCall[]
  /** Answers a call instead of the chain when it returns something, or throws. */
  intercept: ((call: ChainCall, signal?: AbortSignal) => unknown) | null
}

/** Builds a chain with a block at height 0. Payments are named by their transaction. */
export function fakeChain(chainId = 1): FakeChain {
  let forks = 0
  const blocks: { ref: BlockRef; payments: readonly PaymentFacts[] }[] = []
  const calls: ChainCall[] = []

  function append(names: readonly string[]): void {
    const number = blocks.length
    const ref: BlockRef = {
      number,
      hash: hashOf(`${chainId}/${forks}/${number}`),
      parentHash: blocks.at(-1)?.ref.hash ?? hashOf('nothing'),
      timestamp: Date.UTC(2026, 0, 1) + number * 1_000,
    }
    const inBlock = { chainId, blockNumber: number, blockHash: ref.hash, blockTimestamp: ref.timestamp }
    blocks.push({ ref, payments: names.map((name, logIndex) => paymentFacts(name, { ...inBlock, logIndex })) })
  }
  async function asked<T>(call: ChainCall, signal: AbortSignal | undefined, answer: () => T): Promise<T> {
    calls.push(call)
    const instead = await chain.intercept?.(call, signal)
    return instead === undefined ? answer() : (instead as T)
  }
  function at(height: number): BlockRef {
    const block = blocks[height]
    if (!block) throw new Error(`the test asked for block ${height}`)
    return block.ref
  }

  const chain: FakeChain = {
    chainId,
    calls,
    intercept: null,
    at,
    mine(count, paymentsAt = () => []) {
      for (let block = 0; block < count; block += 1) append(paymentsAt(blocks.length))
    },
    fork(depth, paymentsAt = () => []) {
      forks += 1
      chain.drop(depth)
      chain.mine(depth, paymentsAt)
    },
    drop(depth) {
      blocks.splice(blocks.length - depth)
    },
    head: (signal) => asked(['head'], signal, () => at(blocks.length - 1)),
    block: (number, signal) => asked(['block', number], signal, () => blocks[number]?.ref ?? null),
    range: (from, to, signal) =>
      asked(['range', from, to], signal, () => ({
        first: at(from),
        last: at(to),
        payments: blocks.slice(from, to + 1).flatMap(({ payments }) => payments),
      })),
    transactionFate: async () => ({ fate: 'unknown', blockNumber: null }),
  }
  append([])
  return chain
}
