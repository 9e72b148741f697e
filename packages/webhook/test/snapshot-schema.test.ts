/** The snapshot's check, which has no dependency, against the contract's schema (docs/interface.md 2.3). */
import { type PaymentState, paymentStates, snapshotSchema } from '@payment-integration/contract'
import fc from 'fast-check'
import { expect, expectTypeOf, test } from 'vitest'
import { parseSnapshot, type SnapshotState } from '../src/snapshot.js'

const accepts = (value: unknown) => {
  try {
    return parseSnapshot(JSON.stringify(value)) !== undefined
  } catch (error) {
    expect(error).toMatchObject({ code: 'ERR_SNAPSHOT_INVALID', status: 400 })
    return false
  }
}
/** Whether the schema accepts the same JSON. */
const schemaAccepts = (value: unknown) => snapshotSchema.safeParse(JSON.parse(JSON.stringify(value))).success

const hex = (digits: number) =>
  fc
    .array(fc.constantFrom(...'0123456789abcdef'), { minLength: digits, maxLength: digits })
    .map((text) => `0x${text.join('')}`)
const amount = fc.oneof(
  fc.nat().map(String),
  fc.tuple(fc.nat(), fc.nat()).map(([whole, fraction]) => `${whole}.${fraction}`),
)
const currency = fc.array(fc.constantFrom(...'ABEKRSUXZ'), { minLength: 3, maxLength: 3 }).map((text) => text.join(''))
const snapshots = fc.record({
  integrationAddress: hex(40),
  chainId: fc.integer({ min: 1, max: 999_999_999_999_999 }).map(String),
  txHash: hex(64),
  version: fc.integer({ min: 1 }),
  state: fc.option(fc.constantFrom(...paymentStates)),
  recipient: fc.option(fc.record({ title: fc.string(), subtitle: fc.option(fc.string()) })),
  invoice: fc.option(fc.record({ amount, currency, settlementAmount: amount, settlementCurrency: currency })),
})
/** The paths of all fields, and of one at each level that only a newer service has. */
const fields = [
  ...['integrationAddress', 'chainId', 'txHash', 'version', 'state', 'recipient', 'invoice', 'newer'].map((n) => [n]),
  ...['title', 'subtitle', 'newer'].map((name) => ['recipient', name]),
  ...['amount', 'currency', 'settlementAmount', 'settlementCurrency', 'newer'].map((name) => ['invoice', name]),
]
const full = {
  integrationAddress: `0x${'a1'.repeat(20)}`,
  chainId: '8453',
  txHash: `0x${'b2'.repeat(32)}`,
  version: 1,
  state: 'pending',
  recipient: { title: 'Shop', subtitle: 'Berlin' },
  invoice: { amount: '12.50', currency: 'EUR', settlementAmount: '13', settlementCurrency: 'USD' },
}

/** Values near to what some field wants. */
const nearly = fc.oneof(
  fc.constantFrom<unknown>(
    ...[undefined, null, true, false, [], {}, [1]],
    ...[0, -0, 1, -1, 1.5, 2 ** 53 - 1, 2 ** 53, 1e21],
  ),
  fc.constantFrom('', ...'0|00|01|0.|.5|1.|1.0|-1|+1|1e3| 1|1 |1\n|１'.split('|'), '9'.repeat(16)),
  fc.constantFrom(...'EUR|eur|EU|EURO|ÄUR|EUR\n|pending|disputed|PENDING| |\n|\ud800'.split('|')),
  fc.constantFrom(`0x${'A1'.repeat(20)}`, `0x${'a1'.repeat(20)}\n`, `0X${'a1'.repeat(20)}`, 'a1'.repeat(20)),
  fc.constantFrom<unknown>(...[{ title: 'a' }, { title: 'a', subtitle: null }, { subtitle: null }, full.invoice]),
  fc.constant([full.recipient]),
  ...[39, 41, 63].map(hex),
  fc.string(),
  fc.double(),
  fc.jsonValue(),
)

function changed(snapshot: object, path: readonly string[], value: unknown): unknown {
  const [name = '', ...rest] = path
  const inner = (snapshot as Record<string, unknown>)[name]
  if (rest.length === 0) return { ...snapshot, [name]: value }
  return { ...snapshot, [name]: changed(typeof inner === 'object' && inner !== null ? inner : {}, rest, value) }
}

test('accepts every snapshot that the contract describes, and gives it back', () => {
  fc.assert(
    fc.property(snapshots, (snapshot) => {
      expect(schemaAccepts(snapshot)).toBe(true)
      expect(parseSnapshot(JSON.stringify(snapshot))).toEqual(JSON.parse(JSON.stringify(snapshot)))
    }),
    { numRuns: 500 },
  )
})

test('agrees with the contract about snapshots of which one to three fields were changed', () => {
  const change = fc.tuple(fc.constantFrom(...fields), nearly)
  const changes = fc.array(change, { minLength: 1, maxLength: 3 })
  let accepted = 0
  let rejected = 0
  fc.assert(
    fc.property(fc.oneof(snapshots, fc.constant(full)), changes, (snapshot, list) => {
      const near = list.reduce<unknown>((value, [path, to]) => changed(value as object, path, to), snapshot)
      const expected = schemaAccepts(near)
      expected ? accepted++ : rejected++
      expect(accepts(near)).toBe(expected)
    }),
    { numRuns: 6000 },
  )
  // Both answers were common, or the agreement would say little.
  expect(Math.min(accepted, rejected)).toBeGreaterThan(300)
})

test('the verifier, which has no dependency, names the states of the contract', () => {
  expectTypeOf<SnapshotState>().toEqualTypeOf<PaymentState>()
})

test('a rejection quotes nothing of the body', () => {
  const call = () => parseSnapshot('{"recipient": private-text')
  expect(call).toThrow(expect.not.objectContaining({ message: expect.stringContaining('private') }))
  expect(call).toThrow(expect.not.objectContaining({ cause: expect.anything() }))
})
