/** Which rows a look at the newest ones finds. */
import { expect, it } from 'vitest'
import { buildLook, compareLooks, type Look, maxAdded } from './sampler.js'

const none = buildLook({ payments: [], deliveries: [], updates: [] }, [])
const ids = (count: number, from = 1) => Array.from({ length: count }, (_, n) => String(from + n)).reverse()
/** Rows of one kind alone. */
const kinds: Readonly<Record<string, (rows: readonly string[]) => Look>> = {
  payments: (payments) => buildLook({ payments, deliveries: [], updates: [] }, []),
  deliveries: (rows) =>
    buildLook({ payments: [], deliveries: rows.map((id) => ({ deliveryId: id, paymentId: id })), updates: [] }, []),
  updates: (rows) =>
    buildLook({ payments: [], deliveries: [], updates: rows.map((id) => ({ seq: id, paymentId: id })) }, []),
  attempts: (rows) =>
    buildLook(
      { payments: [], deliveries: [], updates: [] },
      rows.map((deliveryId) => ({ deliveryId, number: 1 })),
    ),
}

for (const [kind, look] of Object.entries(kinds)) {
  it(`more than ${maxAdded} added ${kind} are cut, and the rows after them are found again`, () => {
    expect(compareLooks(none, look(ids(maxAdded))).isCut).toBe(false)
    const burst = look(ids(maxAdded + 1))
    expect(compareLooks(none, burst)).toEqual({ paymentIds: [], deliveryIds: [], isCut: true })
    const { paymentIds, deliveryIds, isCut } = compareLooks(burst, look(ids(maxAdded + 2)))
    expect([new Set([...paymentIds, ...deliveryIds]), isCut]).toEqual([new Set([String(maxAdded + 2)]), false])
  })

  it(`a lower id of ${kind} that is committed later is found, and nothing twice`, () => {
    const [before, after] = [look(['11', '9']), look(['11', '10', '9'])]
    const { paymentIds, deliveryIds } = compareLooks(before, after)
    expect(new Set([...paymentIds, ...deliveryIds])).toEqual(new Set(['10']))
    expect(compareLooks(after, after)).toEqual({ paymentIds: [], deliveryIds: [], isCut: false })
  })
}

it('an update without a payment changes none', () => {
  const after = buildLook({ payments: [], deliveries: [], updates: [{ seq: '1', paymentId: null }] }, [])
  expect(compareLooks(none, after).paymentIds).toEqual([])
})
