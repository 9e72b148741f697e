/** Parses the requests of the legacy endpoints strictly. Source: docs/interface.md 4.3. @module */
import type { VerifyRequest } from '@payment-integration/contract'
import { currencyCodePattern, verifyRequestLimits } from '@payment-integration/contract'
import { formatUnreadableJson } from '@payment-integration/contract/internal'
import { parse } from 'lossless-json'
import { InvalidLegacyRequestError } from '../errors.js'
import { findDuplicateKey } from '../internal/values.js'
import type { PaymentSelector } from '../payments/payment-store.js'
import { isPlainDecimal, parseNumberToken } from './invoice-and-fees.js'

type Fields = Readonly<Partial<Record<keyof VerifyRequest, unknown>>>

/** A number as its text in the body: a JavaScript number could have another value. */
class NumberToken {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** The message follows the name of the field, and contains no value of the request. */
type Flaw = { readonly code: string; readonly message: string }

type Parsed<T> = { readonly [Name in keyof T]: T[Name] | Flaw }

const toFormatFlaw = (message: string): Flaw => ({ code: 'invalid_format', message })

function toTypeFlaw(value: unknown, expected: string): Flaw {
  return { code: 'invalid_type', message: value === undefined ? 'is required' : `must be ${expected}` }
}

/** Parses a chain id: at most 15 decimal digits without sign or leading zero. */
function parseChainId(value: unknown): number | Flaw {
  if (!(value instanceof NumberToken)) return toTypeFlaw(value, 'a number')
  if (/^[1-9][0-9]{0,14}$/.test(value.text)) return Number(value.text)
  return toFormatFlaw('must be a positive whole number in decimal digits, 15 at most')
}

function parseText(value: unknown, isValid: (text: string) => boolean, format: string): string | Flaw {
  if (typeof value !== 'string') return toTypeFlaw(value, 'a string')
  return isValid(value) ? value : toFormatFlaw(format)
}

function parseHash(value: unknown): string | Flaw {
  const format = 'must start with 0x and have a fixed length of 66 characters, 64 of them hex digits'
  const hash = parseText(value, (text) => /^0x[0-9a-fA-F]{64}$/.test(text), format)
  return typeof hash === 'string' ? hash.toLowerCase() : hash
}

function parseAmount(value: unknown): string | Flaw {
  if (value instanceof NumberToken) {
    const inexact = 'must be 0 or more and exact as a number; send it as a string'
    return parseNumberToken(value.text) ?? { code: 'inexact_number', message: inexact }
  }
  if (typeof value !== 'string') return toTypeFlaw(value, 'a decimal string or a number')
  if (isPlainDecimal(value)) return value
  return toFormatFlaw(
    `must be a plain decimal such as 12.50: no sign, exponent or space, ${verifyRequestLimits.invoiceAmount} characters at most`,
  )
}

/** Throws the flaws of all fields at once. @throws InvalidLegacyRequestError `ERR_LEGACY_REQUEST_INVALID`. */
function throwFlaws<T extends Record<keyof T, string | number>>(fields: Parsed<T>): asserts fields is T {
  const details = Object.entries<Flaw | string | number>(fields).flatMap(([name, value]) =>
    typeof value === 'object' ? [{ code: value.code, message: `${name} ${value.message}`, path: [name] }] : [],
  )
  if (details.length > 0) throw new InvalidLegacyRequestError(details)
}

/** @throws InvalidLegacyRequestError `ERR_LEGACY_REQUEST_INVALID` with every flaw. */
export function parseTransactionKey(query: { readonly chainId: string; readonly txHash: string }): PaymentSelector {
  // The path has the number as text.
  const fields = { chainId: parseChainId(new NumberToken(query.chainId)), txHash: parseHash(query.txHash) }
  throwFlaws(fields)
  return fields
}

/** A verify request after every check: the amount is a plain decimal, the hash is lowercased. */
interface CheckedVerifyRequest extends VerifyRequest {
  readonly invoiceAmount: string
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Parses the body of a verify request: strict UTF-8, JSON without duplicate keys, then every field. Unknown fields are
 * ignored. `invoiceAmount` is returned as the exact decimal in the body, as text.
 * @throws InvalidLegacyRequestError `ERR_LEGACY_REQUEST_INVALID` with every flaw, without values of the request.
 * @example
 * import { parseVerifyRequest } from '@payment-integration/core'
 * export const parse = async (request: Request) => parseVerifyRequest(new Uint8Array(await request.arrayBuffer()))
 */
export function parseVerifyRequest(bytes: Uint8Array): CheckedVerifyRequest {
  return checkFields(parseBody(bytes))
}

/** Checks a request from a host. A number counts as its shortest decimal text. */
export function checkVerifyRequest(request: VerifyRequest): CheckedVerifyRequest {
  const { chainId, invoiceAmount } = request
  return checkFields({ ...request, chainId: toNumberToken(chainId), invoiceAmount: toNumberToken(invoiceAmount) })
}

function toNumberToken(value: unknown): unknown {
  return typeof value === 'number' ? new NumberToken(Object.is(value, -0) ? '-0' : String(value)) : value
}

function parseBody(bytes: Uint8Array): Fields {
  let text: string
  let json: unknown
  try {
    text = decoder.decode(bytes)
    // The parser reports duplicate keys only where the values differ, so findDuplicateKey checks them below.
    json = parse(text, null, { parseNumber: (token) => new NumberToken(token), onDuplicateKey: () => undefined })
  } catch {
    return rejectBody('invalid_json', formatUnreadableJson(bytes, 'Body must be JSON in UTF-8'))
  }
  if (findDuplicateKey(text) !== null) return rejectBody('duplicate_key', 'Body must not name a field twice')
  if (typeof json !== 'object' || json === null || Array.isArray(json) || json instanceof NumberToken)
    return rejectBody('invalid_type', 'Body must be a JSON object')
  return json as Fields
}

function rejectBody(code: string, message: string): never {
  throw new InvalidLegacyRequestError([{ code, message, path: [] }])
}

function checkFields({ chainId, txHash, invoiceAmount, invoiceCurrency, address }: Fields): CheckedVerifyRequest {
  const currencyFormat = 'must be 1 to 16 capital letters, digits and . + - _, such as USD'
  const maxLength = verifyRequestLimits.address
  const payeeFormat = `must be an address or an account handle, ${maxLength} characters at most`
  const fields = {
    chainId: parseChainId(chainId),
    txHash: parseHash(txHash),
    invoiceAmount: parseAmount(invoiceAmount),
    invoiceCurrency: parseText(invoiceCurrency, (text) => currencyCodePattern.test(text), currencyFormat),
    address: parseText(address, (text) => text !== '' && text.length <= maxLength, payeeFormat),
  }
  throwFlaws(fields)
  return fields
}
