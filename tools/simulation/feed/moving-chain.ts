/** A chain in memory that grows and reorganizes by seed, and the truth about its payments. @module */
import type { PaymentFacts } from '@payment-integration/core/ports'
import { createDraws } from '../../../packages/testing/src/builders.js'
import type { TwinChain, UnminedPayment } from '../../../packages/testing/src/twin/chain.js'
import { buildPayment, createTwinChain } from '../../../packages/testing/src/twin/chain.js'
import type { Draws } from '../random.js'
import { getKey, type LastingFacts, type TrueFacts } from '../world/truth.js'

export interface MovingChain {
  readonly chain: TwinChain
  /** Mines the next blocks. Sometimes it first orphans the newest ones. */
  tick(): void
  /** Mines one empty block. */
  mineEmpty(): void
  readonly reorgs: () => number
  /** Payments on the chain, by key. */
  readTruth(): Promise<Map<string, TrueFacts>>
  /** The facts of a payment of any branch that do not depend on its block. */
  findLastingFacts(key: string): LastingFacts | undefined
}

const maxDepth = 6

/** Makes the chain of a seed. */
export function createMovingChain(chainId: number, draws: Draws): MovingChain {
  const paymentDraws = createDraws(draws.whole(0, 0xffff_ffff))
  const chain = createTwinChain(chainId, { clock: Date, newHash: () => draws.hex(32), stepMs: 0 })
  const factsByKey = new Map<string, LastingFacts>()
  const integrations = [draws.hex(20), draws.hex(20)]
  let orphaned: UnminedPayment[] = []
  let reorgs = 0

  function drawPayments(): UnminedPayment[] {
    const payments = Array.from({ length: draws.pick([0, 0, 1, 1, 2]) }, () =>
      buildPayment({ chainId, integrationAddress: draws.pick([...integrations, null]) }, paymentDraws),
    )
    for (const payment of payments) factsByKey.set(getKey(payment), getLasting(payment))
    // An orphaned payment is included again sooner, later or never.
    const returning = orphaned.filter(() => draws.chance(0.3))
    orphaned = orphaned.filter((payment) => !returning.includes(payment) && draws.chance(0.9))
    return [...payments, ...returning]
  }

  return {
    chain,
    tick() {
      let blocks = draws.pick([1, 1, 1, 2])
      if (draws.chance(0.06)) {
        const depth = draws.whole(1, maxDepth)
        orphaned.push(...chain.orphan(depth))
        reorgs += 1
        // Sometimes the new branch is lower at first.
        blocks = draws.whole(Math.max(1, depth - 1), depth + 2)
      }
      for (let mined = 0; mined < blocks; mined += 1) chain.mine(drawPayments())
    },
    mineEmpty: () => void chain.mine(),
    reorgs: () => reorgs,
    async readTruth() {
      const facts = new Map<string, TrueFacts>()
      const to = chain.height()
      for await (const range of chain.ranges({ from: 0, to, head: to }))
        for (const payment of range.payments) facts.set(getKey(payment), payment)
      return facts
    },
    findLastingFacts: (key) => factsByKey.get(key),
  }
}

function getLasting(payment: UnminedPayment): LastingFacts {
  const { logIndex: _, ...lasting } = payment as Omit<PaymentFacts, 'blockNumber' | 'blockHash' | 'blockTimestamp'>
  return lasting
}
