/** Which rows a look at the newest ones finds. */
import { expect, it } from 'vitest'
import { addedSince, type Look, lookAt, maxAdded } from './sampler.js'

const none = lookAt({ payments: [], deliveries: [], updates: [] }, [])
const ids = (count: number, from = 1) => Array.from({ length: count }, (_, n) => String(from + n)).reverse()
/** Rows of one kind alone. */
const kinds: Readonly<Record<string, (rows: readonly string[]) => Look>> = {
  payments: (payments) => lookAt({ payments, deliveries: [], updates: [] }, []),
  deliveries: (rows) =>
    lookAt({ payments: [], deliveries: rows.map((id) => ({ deliveryId: id, paymentId: id })), updates: [] }, []),
  updates: (rows) =>
    lookAt({ payments: [], deliveries: [], updates: rows.map((id) => ({ seq: id, paymentId: id })) }, []),
  attempts: (rows) =>
    lookAt(
      { payments: [], deliveries: [], updates: [] },
      rows.map((deliveryId) => ({ deliveryId, number: 1 })),
    ),
}

for (const [kind, look] of Object.entries(kinds)) {
  it(`more than ${maxAdded} added ${kind} are cut, and the rows after them are found again`, () => {
    expect(addedSince(none, look(ids(maxAdded))).isCut).toBe(false)
    const burst = look(ids(maxAdded + 1))
    expect(addedSince(none, burst)).toEqual({ paymentIds: [], deliveryIds: [], isCut: true })
    const { paymentIds, deliveryIds, isCut } = addedSince(burst, look(ids(maxAdded + 2)))
    expect([new Set([...paymentIds, ...deliveryIds]), isCut]).toEqual([new Set([String(maxAdded + 2)]), false])
  })

  it(`a lower id of ${kind} that is committed later is found, and nothing twice`, () => {
    const [before, after] = [look(['11', '9']), look(['11', '10', '9'])]
    const { paymentIds, deliveryIds } = addedSince(before, after)
    expect(new Set([...paymentIds, ...deliveryIds])).toEqual(new Set(['10']))
    expect(addedSince(after, after)).toEqual({ paymentIds: [], deliveryIds: [], isCut: false })
  })
}

it('an update without a payment changes none', () => {
  const after = lookAt({ payments: [], deliveries: [], updates: [{ seq: '1', paymentId: null }] }, [])
  expect(addedSince(none, after).paymentIds).toEqual([])
})
