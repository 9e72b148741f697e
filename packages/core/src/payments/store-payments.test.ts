/** Commits of more payments than are stored at a time. */
import { expect, test } from 'vitest'
import { applyUpdate } from '../../test/support/apply-update.js'
import { recorder } from '../../test/support/recorder.js'
import { hashOf } from '../../test/support/stored-payment.js'

const perBlock = 300
/** The 512th payment and the one behind it are of one transaction, and name different integrations. */
const pair = [511, 512]
const second = `0x${'0e'.repeat(20)}`

function getName(nth: number): string {
  return pair.includes(nth) ? 'pair' : `payment ${nth}`
}

test('a long commit stores and reports every payment once, in order, and settles an update waiting for the second of two', async () => {
  const { chain, store, advance, stored, snapshots } = recorder()
  await applyUpdate(store, {
    id: 'u',
    chainId: '1',
    txHash: hashOf('pair'),
    integrationAddress: second,
    state: 'success',
  })
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
  expect(snapshots('pair')).toEqual([[1, null]])
  expect(snapshots('payment 1199')).toEqual([[1, null]])
})
