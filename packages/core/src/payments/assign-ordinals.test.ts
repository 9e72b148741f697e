import { describe, expect, test } from 'vitest'
import { hashOf, paymentFacts, storedPayment } from '../../test/support/stored-payment.js'
import type { PaymentFacts, StoredPayment } from './payment.js'
import { assignOrdinals } from './store-payments.js'

const [old, added] = [`0x${'01'.repeat(20)}`, `0x${'02'.repeat(20)}`]
const [shop, otherShop] = [`0x${'a1'.repeat(20)}`, `0x${'a2'.repeat(20)}`]
const routers = { [old]: { address: old, version: '0.5' }, [added]: { address: added, version: '0.8' } }
const [hereHash, deadHash] = [hashOf('here'), hashOf('dead')]

interface Log {
  readonly logIndex: number
  readonly ordinal?: number
  readonly router?: string
  readonly integrationAddress?: string | null
  readonly blockHash?: string
  readonly sourceChain?: number
  readonly primary?: boolean
}

function facts({ router = old, blockHash = hereHash, sourceChain = 1, primary: _, ...given }: Log): PaymentFacts {
  const source = { chainId: sourceChain, txHash: hashOf('a') }
  const listed = routers[router]
  if (listed === undefined) throw new Error(router)
  return paymentFacts('a', { ordinal: 0, integrationAddress: shop, router: listed, blockHash, source, ...given })
}
const row = (log: Log): StoredPayment =>
  storedPayment({ id: `${log.ordinal ?? 0}`, ...facts(log), primary: log.primary ?? true })

/** [log index, ordinal, primary] of each. */
const placed = (read: Log[], stored: Log[], listed = [old, added]) =>
  assignOrdinals(read.map(facts), stored.map(row), listed).map((payment) => [
    payment.facts.logIndex,
    payment.facts.ordinal,
    payment.primary,
  ])

describe('a payment of blocks that were indexed before', () => {
  test('keeps its position as ordinal when nothing of its transaction is stored', () => {
    expect(placed([{ logIndex: 3 }, { logIndex: 7, ordinal: 1 }], [])).toEqual([
      [3, 0, true],
      [7, 1, false],
    ])
  })

  test('of another router never takes the ordinal of a stored payment', () => {
    for (const logIndex of [2, 9])
      expect(placed([{ logIndex, router: added }], [{ logIndex: 5 }], [added])).toEqual([[logIndex, 1, false]])
  })

  test('of another router is primary when the stored one names another integration', () => {
    const read = [{ logIndex: 2, router: added, integrationAddress: otherShop }]
    expect(placed(read, [{ logIndex: 5 }], [added])).toEqual([[2, 1, true]])
  })

  test('keeps the ordinal of its stored log at any position', () => {
    const stored = [{ logIndex: 5 }, { logIndex: 2, ordinal: 1, router: added, primary: false }]
    expect(placed([{ logIndex: 2, router: added }], stored, [added])).toEqual([[2, 1, false]])
    const all = [
      { logIndex: 2, router: added },
      { logIndex: 5, ordinal: 1 },
    ]
    expect(placed(all, stored)).toEqual([
      [2, 1, false],
      [5, 0, false],
    ])
  })

  test('that was missed before a stored one takes a free ordinal', () => {
    const read = [{ logIndex: 2 }, { logIndex: 5, ordinal: 1 }]
    expect(placed(read, [{ logIndex: 5 }])).toEqual([
      [2, 1, false],
      [5, 0, false],
    ])
  })

  test('keeps its record when its transaction was mined in another block', () => {
    const stored = [
      { logIndex: 5, blockHash: deadHash },
      { logIndex: 7, ordinal: 1, blockHash: deadHash, primary: false },
    ]
    const read = [{ logIndex: 1 }, { logIndex: 3, ordinal: 1 }]
    expect(placed(read, stored)).toEqual([
      [1, 0, false],
      [3, 1, false],
    ])
  })

  test('takes no record of another integration, of a router that was not read, or of a payment from another chain', () => {
    for (const [stored, listed] of [
      [{ logIndex: 5, blockHash: deadHash, integrationAddress: otherShop }, [old, added]],
      [{ logIndex: 5, blockHash: deadHash, router: old }, [added]],
      [{ logIndex: 5, blockHash: deadHash, sourceChain: 10 }, [old, added]],
    ] as const)
      expect(placed([{ logIndex: 1, router: added }], [stored], [...listed])[0]?.[1]).toBe(1)
  })
})
