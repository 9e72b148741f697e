import { snapshotWriteSchema } from '@payment-integration/contract/internal'
import { expect, it } from 'vitest'
import { buildSnapshotBytes } from './change-status.js'

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
