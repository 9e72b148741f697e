/** Which rows were added between two ticks. */
import { expect, it } from 'vitest'
import { findAddedRows, keyRows, maxAdded, type NewestRows } from './sampler.js'

const empty = { payments: [], deliveries: [], updates: [] }
const none = keyRows(empty, [])
const attempt = (deliveryId: string) => ({ deliveryId, number: 1 })
const ids = (count: number, from = 1) => Array.from({ length: count }, (_, n) => String(from + n)).reverse()
/** Rows of one kind alone. */
const kinds: Readonly<Record<string, (rows: readonly string[]) => NewestRows>> = {
  payments: (payments) => keyRows({ ...empty, payments }, []),
  deliveries: (rows) => keyRows({ ...empty, deliveries: rows.map((id) => ({ deliveryId: id, paymentId: id })) }, []),
  updates: (rows) => keyRows({ ...empty, updates: rows.map((id) => ({ seq: id, paymentId: id })) }, []),
  attempts: (rows) => keyRows(empty, rows.map(attempt)),
}

for (const [kind, newestRows] of Object.entries(kinds)) {
  it(`more than ${maxAdded} added ${kind} need a reload, and the rows after them are found again`, () => {
    expect(findAddedRows(none, newestRows(ids(maxAdded))).needsReload).toBe(false)
    const burst = newestRows(ids(maxAdded + 1))
    expect(findAddedRows(none, burst)).toEqual({ paymentIds: [], deliveryIds: [], needsReload: true })
    const { paymentIds, deliveryIds, needsReload } = findAddedRows(burst, newestRows(ids(maxAdded + 2)))
    expect([new Set([...paymentIds, ...deliveryIds]), needsReload]).toEqual([new Set([String(maxAdded + 2)]), false])
  })

  it(`a lower id of ${kind} that is committed later is found, and nothing twice`, () => {
    const [before, after] = [newestRows(['11', '9']), newestRows(['11', '10', '9'])]
    const { paymentIds, deliveryIds } = findAddedRows(before, after)
    expect(new Set([...paymentIds, ...deliveryIds])).toEqual(new Set(['10']))
    expect(findAddedRows(after, after)).toEqual({ paymentIds: [], deliveryIds: [], needsReload: false })
  })
}

it('an update without a payment changes none', () => {
  const after = keyRows({ ...empty, updates: [{ seq: '1', paymentId: null }] }, [])
  expect(findAddedRows(none, after).paymentIds).toEqual([])
})
