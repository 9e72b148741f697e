import { type PaymentState, paymentStates } from '@payment-integration/contract'
import { snapshotWriteSchema } from '@payment-integration/contract/internal'
import { expect, it } from 'vitest'
import { buildSnapshotBytes, changeStatusByUpdate, decideTransition } from './change-status.js'
import { initialStatus, type PaymentStatus } from './payment.js'

// Written out by hand from docs/decisions/states-and-versions.md: the table in the code is checked against it.
const allowed: Record<PaymentState, readonly PaymentState[]> = {
  pending: ['success', 'failure', 'refund_pending', 'refund_success', 'refund_failure'],
  success: ['refund_pending', 'refund_success', 'refund_failure'],
  failure: ['refund_pending', 'refund_success', 'refund_failure'],
  refund_pending: ['refund_success', 'refund_failure'],
  refund_failure: ['refund_pending', 'refund_success'],
  refund_success: [],
}

const states = [null, ...paymentStates]
it.each(states.flatMap((from) => states.map((to) => [from, to] as const)))('%s -> %s', (from, to) => {
  const next = from === null ? paymentStates : allowed[from]
  const expected = from === to ? 'same' : to !== null && next.includes(to) ? 'allowed' : 'rejected'
  expect(decideTransition(from, to)).toBe(expected)
})

const recipient = { title: 'Café', subtitle: null }
const invoice = { amount: '12.50', currency: 'EUR', settlementAmount: '13.37', settlementCurrency: 'USD' }
const pending: PaymentStatus = { version: 4, state: 'pending', recipient, invoice }

it('changeStatus adds exactly 1 to the version on a change of state', () => {
  expect(changeStatusByUpdate(initialStatus, { state: 'pending' })).toEqual({
    outcome: 'applied',
    reason: null,
    status: { version: 2, state: 'pending', recipient: null, invoice: null },
  })
})

it('changeStatus adds 1 on a change of merchant data alone', () => {
  const changed = changeStatusByUpdate(pending, { recipient: { title: 'Café', subtitle: 'Table 4' } })
  expect(changed).toMatchObject({ outcome: 'applied', status: { version: 5, state: 'pending' } })
  const dearer = { ...invoice, settlementAmount: '13.38' }
  expect(changeStatusByUpdate(pending, { invoice: dearer })).toMatchObject({
    outcome: 'applied',
    status: { invoice: dearer },
  })
})

it('changeStatus leaves absent fields and clears null ones', () => {
  expect(changeStatusByUpdate(pending, { recipient: null })).toEqual({
    outcome: 'applied',
    reason: null,
    status: { ...pending, version: 5, recipient: null },
  })
})

it.each([
  ['nothing given', {}],
  ['the same state', { state: 'pending' as const }],
  ['the same merchant data', { recipient: { ...recipient }, invoice: { ...invoice } }],
])('changeStatus is unchanged by %s', (_what, update) => {
  expect(changeStatusByUpdate(pending, update)).toEqual({ outcome: 'unchanged', reason: null, status: null })
})

it('changeStatus rejects the merchant data of an update whose state is rejected', () => {
  const success: PaymentStatus = { ...pending, state: 'success' }
  expect(changeStatusByUpdate(success, { state: 'pending', recipient: null })).toEqual({
    outcome: 'rejected',
    reason: 'state success cannot become pending',
    status: null,
  })
})

it('changeStatus rejects an update that clears a state', () => {
  expect(changeStatusByUpdate(pending, { state: null })).toMatchObject({ outcome: 'rejected' })
})

it('changeStatus keeps fields that it does not know out of the status', () => {
  const noisy = { ...recipient, title: 'Bar', internalAccount: 'acc_1' }
  const changed = changeStatusByUpdate(pending, { recipient: noisy })
  expect(JSON.stringify(changed)).not.toContain('acc_1')
})

const subject = { integrationAddress: `0x${'1'.repeat(40)}`, chainId: 137, txHash: `0x${'a'.repeat(64)}` }
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

it('buildSnapshotBytes holds every field of interface 2.3, in its order, with nulls where nothing is known', () => {
  const body = text(buildSnapshotBytes(subject, { version: 1, state: null, recipient: null, invoice: null }))
  expect(body).toBe(
    `{"integrationAddress":"${subject.integrationAddress}","chainId":"137","txHash":"${subject.txHash}",` +
      '"version":1,"state":null,"recipient":null,"invoice":null}',
  )
})

it('buildSnapshotBytes passes the closed schema of the contract', () => {
  const recipient = { title: 'Café ☕', subtitle: 'Table 4' }
  const invoice = { amount: '12.50', currency: 'EUR', settlementAmount: '13.37', settlementCurrency: 'USD' }
  const bytes = buildSnapshotBytes(subject, { version: 7, state: 'refund_pending', recipient, invoice })
  expect(snapshotWriteSchema.parse(JSON.parse(text(bytes)))).toMatchObject({ version: 7, recipient, invoice })
})

it('buildSnapshotBytes makes the same bytes for the same status, with any key order or extra keys', () => {
  const tidy = { version: 2, state: 'success', recipient: { title: 'A', subtitle: null }, invoice: null } as const
  const recipient = { subtitle: null, extra: 1, title: 'A' }
  const untidy = { invoice: null, recipient, state: 'success', version: 2 } as const
  expect(text(buildSnapshotBytes(subject, untidy))).toBe(text(buildSnapshotBytes(subject, tidy)))
})
