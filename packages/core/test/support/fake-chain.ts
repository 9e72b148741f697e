import { ChainError } from '../../src/errors.js'
import type { PaymentFacts } from '../../src/payments/payment.js'
import type { BlockRange, BlockRef, BridgeDeposit, Chain, ProofLevel, RangesRequest } from '../../src/ports/chain.js'
import { hashOf, paymentFacts } from './stored-payment.js'

/** A call that the chain was asked. A range ends with the routers that it was asked for, where some were named. */
export type ChainCall =
  | readonly ['head']
  | readonly ['block', number]
  | readonly ['range', number, number, ...(readonly [readonly string[]] | readonly [])]

/** A payment: its name, or its name with facts of its own, and as a deposit what it says of the bridge. */
export type FakePayment =
  | string
  | (Partial<PaymentFacts> & { readonly name: string; readonly deposit?: Omit<BridgeDeposit, 'payment'> | undefined })

type MinedPayment = Readonly<{ facts: PaymentFacts; deposit: Omit<BridgeDeposit, 'payment'> | undefined }>

export type PaymentsAt = (height: number) => readonly FakePayment[]

/** The router of a payment that names none. */
export const fakeRouter = paymentFacts('any').router.address

export type FakeChain = ReturnType<typeof fakeChain>

/**
 * A chain in memory whose blocks, forks and faults a test decides, with a block at height 0. Payments are named by
 * their transaction. Equal calls make equal blocks. @param timeAt - The time of a block, in unix milliseconds.
 */
export function fakeChain(chainId = 1, timeAt = (height: number) => Date.UTC(2026, 0, 1) + height * 1_000) {
  let forks = 0
  const chain = {
    ...{
      chainId,
      adapter: 'fake',
      calls: [] as ChainCall[],
      routers: [fakeRouter],
      maxRange: 500,
      isAnnouncing: false,
    },
    /** Answers a call instead of the chain when it returns something, or throws. */
    intercept: null as ((call: ChainCall, signal?: AbortSignal) => unknown) | null,
    /** How many ranges are read before they are asked for. */
    readAhead: 0,
    proof: 'root' as ProofLevel,
  }
  const blocks: { ref: BlockRef; payments: readonly MinedPayment[] }[] = []
  const watching = new Set<() => void>()

  function append(payments: readonly FakePayment[]): void {
    const number = blocks.length
    const ref: BlockRef = {
      number,
      hash: hashOf(`${chainId}/${forks}/${number}`),
      parentHash: blocks.at(-1)?.ref.hash ?? hashOf('nothing'),
      timestamp: timeAt(number),
    }
    const inBlock = { chainId, blockNumber: number, blockHash: ref.hash, blockTimestamp: ref.timestamp }
    const mined = payments.map((payment, logIndex): MinedPayment => {
      const { name, deposit, ...own } = typeof payment === 'string' ? { name: payment, deposit: undefined } : payment
      return { facts: paymentFacts(name, { ...inBlock, logIndex, ...own }), deposit }
    })
    blocks.push({ ref, payments: mined })
  }
  /** Appends blocks, each with the payments that `paymentsAt` gives for its height. */
  function mine(count: number, paymentsAt: PaymentsAt = () => []) {
    for (let block = 0; block < count; block += 1) append(paymentsAt(blocks.length))
  }
  function drop(depth: number) {
    blocks.splice(blocks.length - depth)
  }
  /** Drops the newest `depth` blocks and mines `depth` others in their place. */
  function fork(depth: number, paymentsAt?: PaymentsAt) {
    forks += 1
    drop(depth)
    mine(depth, paymentsAt)
  }
  async function asked<T>(call: ChainCall, signal: AbortSignal | undefined, answer: () => T): Promise<T> {
    chain.calls.push(call)
    const instead = await chain.intercept?.(call, signal)
    return instead === undefined ? answer() : (instead as T)
  }
  function at(height: number): BlockRef {
    const block = blocks[height]
    if (!block) throw new Error(`the test asked for block ${height}`)
    return block.ref
  }
  /** The answer of an honest node for these blocks. */
  function rangeOf(from: number, to: number, routers: readonly string[] = chain.routers): BlockRange {
    const inside = blocks.slice(from, to + 1)
    const mined = inside
      .flatMap(({ payments }) => payments)
      .filter(({ facts }) => routers.includes(facts.router.address))
    return {
      first: at(from),
      last: at(to),
      blocks: inside.map(({ ref }) => ref),
      payments: mined.flatMap(({ facts, deposit }) => (deposit === undefined ? [facts] : [])),
      deposits: mined.flatMap(({ facts, deposit }) => (deposit === undefined ? [] : [{ payment: facts, ...deposit }])),
      proof: chain.proof,
      node: 'node.test #1',
    }
  }
  function read(from: number, to: number, routers: readonly string[] | undefined, signal: AbortSignal | undefined) {
    const call: ChainCall = routers === undefined ? ['range', from, to] : ['range', from, to, routers]
    return asked(call, signal, () => {
      if (to >= blocks.length) throw new ChainError('ERR_CHAIN_RANGE_GONE', chainId, `block ${to} is not there`)
      return rangeOf(from, to, routers)
    })
  }
  async function* ranges({ from, to, routers }: RangesRequest, signal?: AbortSignal): AsyncGenerator<BlockRange> {
    const reading: Promise<BlockRange>[] = []
    for (let next = from; next <= to || reading.length > 0; ) {
      while (next <= to && reading.length <= chain.readAhead) {
        const last = Math.min(to, next + chain.maxRange - 1)
        const range = read(next, last, routers, signal)
        range.catch(() => undefined)
        reading.push(range)
        next = last + 1
      }
      const range = await reading.shift()
      if (range) yield range
    }
  }

  const port: Omit<Chain, keyof typeof chain> = {
    head: (signal) => asked(['head'], signal, () => at(blocks.length - 1)),
    block: (number, signal) => asked(['block', number], signal, () => blocks[number]?.ref ?? null),
    ranges,
    watch(wake, signal) {
      return new Promise((resolve) => {
        const end = () => {
          watching.delete(wake)
          resolve()
        }
        if (signal.aborted) return resolve()
        watching.add(wake)
        signal.addEventListener('abort', end, { once: true })
      })
    },
    announcesBlocks: () => chain.isAnnouncing,
    transactionFate: async () => ({ fate: 'unknown', blockNumber: null }),
    nodes: () => [
      {
        ...{ name: 'node.test #1', score: 1, inUse: true, head: blocks.length - 1, latencyMs: null, failures: 0 },
        ...{ contradictions: 0, failedProofs: 0, calls: 0, receivedBytes: 0, blocks: 0, maxRange: chain.maxRange },
        lastError: null,
      },
    ],
  }
  append([])
  return Object.assign(chain, port, {
    mine,
    fork,
    drop,
    at,
    rangeOf,
    height: () => blocks.length - 1,
    /** Announces a new block to all watchers. */
    wake() {
      for (const wake of watching) wake()
    },
    watchers: () => watching.size,
  })
}
