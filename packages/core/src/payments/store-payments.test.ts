/** Commits of more payments than are stored at a time. */
import { expect, it, test } from 'vitest'
import { applyUpdate } from '../../test/support/apply-update.js'
import { recorder } from '../../test/support/recorder.js'
import { hashOf, paymentFacts, storedPayment } from '../../test/support/stored-payment.js'
import type { PaymentFacts, StoredPayment } from './payment.js'
import { choosePrimary, matchOrdinals } from './store-payments.js'

const perBlock = 300
/** The 512th payment and the one behind it are of one transaction, and name different integrations. */
const pair = [511, 512]
const second = `0x${'0e'.repeat(20)}`

function getName(nth: number): string {
  return pair.includes(nth) ? 'pair' : `payment ${nth}`
}

test('a long commit stores and reports every payment once, in order, and settles an update waiting for the second of two', async () => {
  const { chain, store, advance, stored, snapshots } = recorder()
  const update = { id: 'u', chainId: '1', txHash: hashOf('pair'), integrationAddress: second }
  await applyUpdate(store, { ...update, state: 'success' })
  chain.mine(4, (height) =>
    Array.from({ length: perBlock }, (_, index) => {
      const nth = (height - 1) * perBlock + index
      if (nth !== pair[1]) return getName(nth)
      return { name: 'pair', ordinal: 1, integrationAddress: second }
    }),
  )
  const events = await advance()
  const indexed = events.flatMap((event) => (event.type === 'payment.indexed' ? [event.txHash] : []))
  expect(indexed).toEqual(Array.from({ length: 4 * perBlock }, (_, nth) => hashOf(getName(nth))))
  expect(store.committed.payments.length).toBe(4 * perBlock)
  const ids = store.committed.payments.map(({ id }) => Number(id))
  expect(ids).toEqual(ids.toSorted((a, b) => a - b))
  expect([0, 1].map((ordinal) => stored('pair', ordinal).state)).toEqual([null, 'success'])
  const { id } = stored('pair', 1)
  const bodies = store.committed.snapshots.filter(({ paymentId }) => paymentId === id)
  expect(bodies.map(({ version }) => version)).toEqual([1, 2])
  expect(snapshots('pair')).toEqual(['1 null'])
  expect(snapshots('payment 1199')).toEqual(['1 null'])
})

const [old, added] = [`0x${'01'.repeat(20)}`, `0x${'02'.repeat(20)}`]
const [shop, otherShop] = [`0x${'a1'.repeat(20)}`, `0x${'a2'.repeat(20)}`]
const routers = { [old]: { address: old, version: '0.5' }, [added]: { address: added, version: '0.8' } }
const [hereHash, deadHash] = [hashOf('here'), hashOf('dead')]

type Log = Pick<PaymentFacts, 'logIndex'> &
  Partial<Pick<PaymentFacts, 'ordinal' | 'integrationAddress' | 'blockHash'>> &
  Readonly<{ router?: string; sourceChain?: number; primary?: boolean }>

function facts({ router = old, blockHash = hereHash, sourceChain = 1, primary: _, ...given }: Log): PaymentFacts {
  const source = { chainId: sourceChain, txHash: hashOf('a') }
  const listed = routers[router]
  if (listed === undefined) throw new Error(router)
  return paymentFacts('a', { ordinal: 0, integrationAddress: shop, router: listed, blockHash, source, ...given })
}
const row = (log: Log): StoredPayment =>
  storedPayment({ id: `${log.ordinal ?? 0}`, ...facts(log), primary: log.primary ?? true })

const dead = { logIndex: 5, blockHash: deadHash }
const inAdded = { logIndex: 2, router: added }
const inOtherShop = { ...inAdded, integrationAddress: otherShop }
const storedInAdded = { ...inAdded, ordinal: 1, primary: false }
const [at5, next5] = [{ logIndex: 5 }, { logIndex: 5, ordinal: 1 }]

/** Expected: `log index:ordinal` of each, with a star where it is primary. */
test.each<[fact: string, read: Log[], stored: Log[], expected: string[], listed?: string[]]>([
  ['keeps its position as ordinal beside nothing', [{ logIndex: 3 }, { logIndex: 7, ordinal: 1 }], [], ['3:0*', '7:1']],
  ['of another router takes no stored ordinal below it', [inAdded], [at5], ['2:1'], [added]],
  ['of another router takes no stored ordinal above it', [{ ...inAdded, logIndex: 9 }], [at5], ['9:1'], [added]],
  ['of another router is primary beside one of another integration', [inOtherShop], [at5], ['2:1*'], [added]],
  ['keeps the ordinal of its stored log, read alone', [inAdded], [at5, storedInAdded], ['2:1'], [added]],
  ['keeps the ordinal of its stored log at any position', [inAdded, next5], [at5, storedInAdded], ['2:1', '5:0']],
  ['that was missed before a stored one takes a free ordinal', [{ logIndex: 2 }, next5], [at5], ['2:1', '5:0']],
  [
    'keeps its record when its transaction was mined in another block',
    [{ logIndex: 1 }, { logIndex: 3, ordinal: 1 }],
    [dead, { ...dead, logIndex: 7, ordinal: 1, primary: false }],
    ['1:0', '3:1'],
  ],
  ['takes no record of another integration', [inAdded], [{ ...dead, integrationAddress: otherShop }], ['2:1*']],
  ['takes no record of a router that was not read', [inAdded], [dead], ['2:1'], [added]],
  ['takes no record of a payment from another chain', [inAdded], [{ ...dead, sourceChain: 10 }], ['2:1']],
])('a payment of blocks that were indexed before %s', (_fact, read, stored, expected, listed = [old, added]) => {
  const placed = matchOrdinals(read.map(facts), stored.map(row), listed).map(
    (payment) => `${payment.facts.logIndex}:${payment.facts.ordinal}${payment.primary ? '*' : ''}`,
  )
  expect(placed).toEqual(expected)
})

const withOrdinal = (txHash: string, ordinal: number, integrationAddress: string | null) =>
  ({ chainId: 1, txHash, ordinal, integrationAddress }) as PaymentFacts

it('choosePrimary marks the lowest ordinal of a transaction for each integration, and for none, in any order', () => {
  const payments = [
    withOrdinal('0xa', 0, null),
    withOrdinal('0xa', 1, '0x1'),
    withOrdinal('0xa', 2, '0x1'),
    withOrdinal('0xa', 3, '0x2'),
    withOrdinal('0xa', 4, null),
    withOrdinal('0xb', 0, '0x1'),
  ]
  const marked = [true, true, false, true, false, true]
  expect(choosePrimary(payments).map(({ primary }) => primary)).toEqual(marked)
  expect(choosePrimary(payments.toReversed()).map(({ primary }) => primary)).toEqual(marked.toReversed())
})
