import { describe, expect, it } from 'vitest'
import { payment, snapshot } from '../test/samples.js'
import { pageSchema, pageWriteSchema, paymentSchema, paymentWriteSchema } from './payment.js'
import { snapshotSchema, snapshotWriteSchema } from './snapshot.js'

const without = (object: object, field: string) =>
  Object.fromEntries(Object.entries(object).filter(([name]) => name !== field))

describe.each([
  ['the payment object (interface 2.1)', paymentSchema, paymentWriteSchema, payment],
  ['the notification payload (interface 2.3)', snapshotSchema, snapshotWriteSchema, snapshot],
])('%s', (_name, read, write, sample) => {
  it('passes in both modes', () => {
    expect(read.parse(sample)).toEqual(sample)
    expect(write.parse(sample)).toEqual(sample)
  })

  it.each(Object.keys(sample))('needs the field %s', (field) => {
    expect(read.safeParse(without(sample, field)).success).toBe(false)
    expect(write.safeParse(without(sample, field)).success).toBe(false)
  })

  it.each(Object.keys(sample).filter((field) => !['state', 'recipient', 'invoice'].includes(field)))(
    'never has null in %s',
    (field) => expect(read.safeParse({ ...sample, [field]: null }).success).toBe(false),
  )

  it.each(['state', 'recipient', 'invoice'])('may have null in %s', (field) => {
    expect(write.safeParse({ ...sample, [field]: null }).success).toBe(true)
  })

  it('passes unknown fields when reading, also nested, and keeps them', () => {
    const newer = { ...sample, later: 1, recipient: { title: 'A', subtitle: null, logo: 'x' } }
    expect(read.parse(newer)).toEqual(newer)
  })

  it('passes an unknown state when reading, unless it is empty or no text', () => {
    expect(read.safeParse({ ...sample, state: 'disputed' }).success).toBe(true)
    for (const state of ['', 7, {}, undefined, true]) expect(read.safeParse({ ...sample, state }).success).toBe(false)
  })

  it.each([
    ['at the top', { ...sample, accountId: 'acc_1' }],
    ['in recipient', { ...sample, recipient: { title: 'A', subtitle: null, points: 1 } }],
    ['in invoice', { ...sample, invoice: { ...snapshot.invoice, solver: 'x' } }],
  ])('rejects unknown fields %s when writing', (_where, leaky) => expect(write.safeParse(leaky).success).toBe(false))

  it.each(['amount', 'currency', 'settlementAmount', 'settlementCurrency'])(
    'has an invoice with all four fields or none: %s is missing',
    (field) => {
      expect(read.safeParse({ ...sample, invoice: without(snapshot.invoice ?? {}, field) }).success).toBe(false)
    },
  )

  it.each([
    ['a number as chainId', { chainId: 137 }],
    ['a float as version', { version: 1.5 }],
    ['version 0', { version: 0 }],
    ['an unknown state', { state: 'done' }],
    ['a mixed-case address', { integrationAddress: `0x${'Ab'.repeat(20)}` }],
    ['a mixed-case hash', { txHash: `0x${'Ab'.repeat(32)}` }],
    ['a number as amount', { invoice: { ...snapshot.invoice, amount: 12.5 } }],
    ['a leading zero in an amount', { invoice: { ...snapshot.invoice, amount: '01' } }],
    ['an exponent in an amount', { invoice: { ...snapshot.invoice, amount: '1e3' } }],
    ['a sign in an amount', { invoice: { ...snapshot.invoice, amount: '-1' } }],
  ])('rejects %s when writing', (_what, change) => {
    expect(write.safeParse({ ...sample, ...change }).success).toBe(false)
  })
})

describe('the payment object', () => {
  it.each(['source', 'tokenIn', 'tokenOut'])('rejects unknown fields in %s when writing', (field) => {
    const nested = { ...(payment[field as 'source'] as object), internalId: 1 }
    expect(paymentWriteSchema.safeParse({ ...payment, [field]: nested }).success).toBe(false)
  })

  it('starts with the seven fields of the notification payload', () => {
    expect(Object.keys(payment).slice(0, 7)).toEqual(Object.keys(snapshot))
  })

  it.each(['2026-01-02', '2026-01-02T03:04:05+01:00', '1767323045'])('rejects %s as blockTimestamp', (blockTimestamp) =>
    expect(paymentSchema.safeParse({ ...payment, blockTimestamp }).success).toBe(false),
  )

  it('may have null only as the symbol in its tokens', () => {
    const hasNull = (field: string) =>
      paymentWriteSchema.safeParse({ ...payment, tokenIn: { ...payment.tokenIn, [field]: null } }).success
    expect([hasNull('symbol'), hasNull('amount')]).toEqual([true, false])
  })
})

it('the page object (interface 2.2) has payments and a cursor that is null on the last page', () => {
  expect(pageWriteSchema.parse({ payments: [payment], nextCursor: null }).payments).toEqual([payment])
  expect(pageSchema.safeParse({ payments: [payment] }).success).toBe(false)
  expect(pageWriteSchema.safeParse({ payments: [], nextCursor: null, total: 1 }).success).toBe(false)
})
