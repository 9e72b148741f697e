import { expect, it } from 'vitest'
import { InvalidLegacyRequestError } from '../errors.js'
import { checkVerifyRequest, parseTransactionKey, parseVerifyRequest } from './legacy-requests.js'

const hash = `0x${'aB'.repeat(32)}`
const good = { chainId: 137, txHash: hash, invoiceAmount: '12.50', invoiceCurrency: 'USD', address: 'Shop' }
const bytes = (text: string) => new TextEncoder().encode(text)
const body = (change: object = {}) => bytes(JSON.stringify({ ...good, ...change }))
const withAmount = (token: string) => bytes(JSON.stringify(good).replace('"12.50"', token))

/** `path: code` of every flaw. */
function findFlaws(read: () => unknown): string[] {
  try {
    read()
  } catch (error) {
    if (error instanceof InvalidLegacyRequestError)
      return error.details.map(({ path, code }) => `${path.join('.')}: ${code}`)
    throw error
  }
  return []
}

it('a verify request is read with its hash lowercased and everything else as it was sent', () => {
  expect(parseVerifyRequest(body())).toEqual({ ...good, txHash: hash.toLowerCase() })
})

it.each(['9007199254740993', '1e400', '-1'])('a verify request with the number %s is rejected', (token) => {
  expect(findFlaws(() => parseVerifyRequest(withAmount(token)))).toEqual(['invoiceAmount: inexact_number'])
})

it.each<[string, object, string]>([
  ['a chain id as text', { chainId: '137' }, 'chainId: invalid_type'],
  ['a chain id of 0', { chainId: 0 }, 'chainId: invalid_format'],
  ['a chain id with a fraction', { chainId: 137.5 }, 'chainId: invalid_format'],
  ['a hash as number', { txHash: 1 }, 'txHash: invalid_type'],
  ['a hash with 0X', { txHash: hash.replace('0x', '0X') }, 'txHash: invalid_format'],
  ['an amount that is no plain decimal', { invoiceAmount: '1e0' }, 'invoiceAmount: invalid_format'],
  ['an amount of null', { invoiceAmount: null }, 'invoiceAmount: invalid_type'],
  ['a currency in small letters', { invoiceCurrency: 'usd' }, 'invoiceCurrency: invalid_format'],
  ['an empty currency', { invoiceCurrency: '' }, 'invoiceCurrency: invalid_format'],
  ['a currency with a full-width letter', { invoiceCurrency: '\uff35SD' }, 'invoiceCurrency: invalid_format'],
  ['a currency with a line feed', { invoiceCurrency: 'USD\n' }, 'invoiceCurrency: invalid_format'],
  ['a currency as number', { invoiceCurrency: 840 }, 'invoiceCurrency: invalid_type'],
  ['an empty address', { address: '' }, 'address: invalid_format'],
  ['a long address', { address: 'x'.repeat(129) }, 'address: invalid_format'],
])('a verify request with %s is rejected', (_what, change, flaw) => {
  expect(findFlaws(() => parseVerifyRequest(body(change)))).toEqual([flaw])
})

it.each(['ETH', 'XAU', 'USDC.E', 'USD1', 'USD+', 'USD0++', 'A-B', 'A_B', 'X'.repeat(16)])(
  'a verify request may have the currency %s',
  (invoiceCurrency) => {
    expect(parseVerifyRequest(body({ invoiceCurrency })).invoiceCurrency).toBe(invoiceCurrency)
  },
)

it('a verify request is rejected with every flaw at once, in the order of the fields', () => {
  const all = [
    ...['chainId: invalid_type', 'txHash: invalid_type', 'invoiceAmount: invalid_type'],
    ...['invoiceCurrency: invalid_type', 'address: invalid_type'],
  ]
  expect(findFlaws(() => parseVerifyRequest(bytes('{}')))).toEqual(all)
})

it('a verify request has fields of its own, not of a prototype', () => {
  const proto = `{"__proto__":${JSON.stringify(good)}}`
  expect(findFlaws(() => parseVerifyRequest(bytes(proto)))).toHaveLength(5)
})

it.each<[string, string | Uint8Array, string]>([
  ['nothing', '', ': invalid_json'],
  ['no JSON', 'chainId=137', ': invalid_json'],
  ['a byte order mark', `\ufeff${JSON.stringify(good)}`, ': invalid_json'],
  ['a byte that is not UTF-8', Uint8Array.from([...body(), 0xff]), ': invalid_json'],
  ['such a byte in a text', body({ address: 'sh?p' }).map((byte) => (byte === 0x3f ? 0xff : byte)), ': invalid_json'],
  ['an amount of NaN', withAmount('NaN'), ': invalid_json'],
  ['an amount with a leading zero', withAmount('012'), ': invalid_json'],
  ['16,000 nested arrays', '['.repeat(16_000), ': invalid_json'],
  ['an array', `[${JSON.stringify(good)}]`, ': invalid_type'],
  ['null', 'null', ': invalid_type'],
  ...['31337.0', '3.1337e4', '31337e0'].map((token): [string, string, string] => {
    return [`the chain id ${token}`, JSON.stringify(good).replace(':137', `:${token}`), 'chainId: invalid_format']
  }),
  ['a field twice', JSON.stringify(good).replace('{', '{"invoiceAmount":"1",'), ': duplicate_key'],
])('a verify request of %s is rejected', (_what, sent, flaw) => {
  expect(findFlaws(() => parseVerifyRequest(typeof sent === 'string' ? bytes(sent) : sent))).toEqual([flaw])
})

it('a verify request is rejected without repeating what was sent', () => {
  const secret = 'tr0ub4dor'
  const sent = [
    bytes(`{"${secret}":`),
    bytes(`{"${secret}":1,"${secret}":2}`),
    body({ ...Object.fromEntries(Object.keys(good).map((name) => [name, secret])), address: secret.repeat(20) }),
  ]
  for (const each of sent)
    try {
      parseVerifyRequest(each)
      expect.unreachable()
    } catch (error) {
      expect(error).toBeInstanceOf(InvalidLegacyRequestError)
      expect(JSON.stringify([error, String(error), (error as InvalidLegacyRequestError).details])).not.toContain(secret)
    }
})

it.each([Number.NaN, Number.POSITIVE_INFINITY, -1, -0, 1e100, 5e-324])(
  'a verify request of a host with the amount %d is rejected',
  (invoiceAmount) => {
    expect(findFlaws(() => checkVerifyRequest({ ...good, invoiceAmount }))).toEqual(['invoiceAmount: inexact_number'])
  },
)

it.each([0, -1, 1.5, Number.NaN, 2 ** 53])('a verify request of a host with the chain id %d is rejected', (chainId) => {
  expect(findFlaws(() => checkVerifyRequest({ ...good, chainId }))).toEqual(['chainId: invalid_format'])
})

it('the path of a look-up has a chain id in digits and a hash in any case', () => {
  expect(parseTransactionKey({ chainId: '137', txHash: hash })).toEqual({ chainId: 137, txHash: hash.toLowerCase() })
})

it.each(['', '0', '01', '-1', '+1', '1.0', '1e3', ' 1', '1\n', '0x1', '٣', '１', '1'.repeat(16), 'NaN'])(
  'the path of a look-up has not the chain id %j',
  (chainId) => {
    expect(findFlaws(() => parseTransactionKey({ chainId, txHash: hash }))).toEqual(['chainId: invalid_format'])
  },
)

it.each([
  ...['', '0x', hash.slice(2), hash.slice(0, -1), `${hash}0`, hash.replace('0x', '0X'), `${hash}\n`],
  ...[hash.replace('a', 'g'), hash.replace('a', 'а')],
])('the path of a look-up has not the hash %j', (txHash) => {
  expect(findFlaws(() => parseTransactionKey({ chainId: '1', txHash }))).toEqual(['txHash: invalid_format'])
})
