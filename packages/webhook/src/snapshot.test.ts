import { expect, test } from 'vitest'
import { decodeText, parseSnapshot } from './snapshot.js'
import { createTestSnapshot } from './test-delivery.js'

const read = (body: Uint8Array) => parseSnapshot(decodeText(body))
const parse = (value: unknown) => read(new TextEncoder().encode(JSON.stringify(value)))
const getField = (call: () => unknown) => {
  try {
    call()
  } catch (error) {
    expect(error).toMatchObject({ code: 'ERR_SNAPSHOT_INVALID', status: 400 })
    return (error as { field: string }).field
  }
  return 'ok'
}
const good = createTestSnapshot()
const invoice = { amount: '1', currency: 'EUR', settlementAmount: '1.00', settlementCurrency: 'USD' }

test.each([
  ['all nullable fields null', { state: null, recipient: null, invoice: null }],
  ['a subtitle', { recipient: { title: 'Shop', subtitle: 'Berlin' } }],
  ['empty merchant text', { recipient: { title: '', subtitle: '' } }],
  ['the largest safe version', { version: Number.MAX_SAFE_INTEGER }],
  ['a state of a newer service', { state: 'disputed' }],
  [
    'unknown fields, at any depth',
    { extra: { a: [1] }, recipient: { title: 'a', subtitle: null, logo: 'b' }, invoice: { ...invoice, tax: '1' } },
  ],
])('%s is a snapshot, and comes back unchanged', (_, change) => {
  const snapshot = { ...good, ...change }
  expect(parse(snapshot)).toEqual(snapshot)
})

test.each(Object.keys(good))('a snapshot without %s is rejected by that name', (field) => {
  expect(getField(() => parse({ ...good, [field]: undefined }))).toBe(field)
})

test.each([
  [
    'integrationAddress',
    [null, 1, '', `0x${'A1'.repeat(20)}`, `0x${'a'.repeat(39)}`, `0x${'a'.repeat(41)}`, `${good.integrationAddress}\n`],
  ],
  ['chainId', [null, 8453, '', '0', '01', '-1', '1.0', '0x1', '1'.repeat(16)]],
  ['txHash', [null, 1, `0x${'B2'.repeat(32)}`, `0x${'b'.repeat(63)}`, good.integrationAddress]],
  ['version', [null, '1', 0, -1, 1.5, 2 ** 53, true]],
  ['state', [1, '', {}, []]],
  ['recipient', ['Shop', 1, [], true]],
  ['invoice', ['12.50', 1, [], true]],
])('%s of a wrong kind is rejected by that name', (field, values) => {
  for (const value of values)
    expect(
      getField(() => parse({ ...good, [field]: value })),
      JSON.stringify(value),
    ).toBe(field)
})

test.each<[string, object]>([
  ['recipient.title', { recipient: { title: null, subtitle: null } }],
  ['recipient.title', { recipient: { subtitle: null } }],
  ['recipient.subtitle', { recipient: { title: 'a' } }],
  ['recipient.subtitle', { recipient: { title: 'a', subtitle: 1 } }],
  ...Object.keys(invoice).flatMap((name) => [
    [`invoice.${name}`, { invoice: { ...invoice, [name]: undefined } }] as [string, object],
    [`invoice.${name}`, { invoice: { ...invoice, [name]: null } }] as [string, object],
    [`invoice.${name}`, { invoice: { ...invoice, [name]: 12.5 } }] as [string, object],
  ]),
  ['invoice.amount', { invoice: { ...invoice, amount: '1e3' } }],
  ['invoice.amount', { invoice: { ...invoice, amount: '01' } }],
  ['invoice.amount', { invoice: { ...invoice, amount: '-1' } }],
  ['invoice.settlementAmount', { invoice: { ...invoice, settlementAmount: '1.' } }],
  ['invoice.currency', { invoice: { ...invoice, currency: 'eur' } }],
  ['invoice.settlementCurrency', { invoice: { ...invoice, settlementCurrency: '' } }],
  ['invoice.settlementCurrency', { invoice: { ...invoice, settlementCurrency: 'USDC' } }],
])('%s is checked inside its object', (field, change) => {
  expect(getField(() => parse({ ...good, ...change }))).toBe(field)
})

test.each([
  ['nothing', ''],
  ['no JSON', 'hello'],
  ['a cut', JSON.stringify(good).slice(0, -1)],
  ['null', 'null'],
  ['an array', `[${JSON.stringify(good)}]`],
  ['a string', '"x"'],
  ['a byte order mark', `\ufeff${JSON.stringify(good)}`],
])('a body of %s is no snapshot', (_, body) => {
  expect(getField(() => read(new TextEncoder().encode(body)))).toBe('')
})

test('invalid UTF-8 is no snapshot', () => {
  const body = Buffer.from(JSON.stringify(good).replace('Example', '\u0001'))
  body[body.indexOf(1)] = 0xff
  expect(getField(() => read(body))).toBe('')
})

test('a rejection quotes nothing of the body', () => {
  const call = () => read(new TextEncoder().encode('{"recipient": private-text'))
  expect(call).toThrow(expect.not.objectContaining({ message: expect.stringContaining('private') }))
  expect(call).toThrow(expect.not.objectContaining({ cause: expect.anything() }))
})
