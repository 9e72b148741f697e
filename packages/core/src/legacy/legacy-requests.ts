/** Parses the requests of the legacy endpoints strictly. Source: docs/interface.md 4.3. @module */
import type { LegacyErrorBody, VerifyRequest } from '@payment-integration/contract'
import { currencyCodePattern, verifyRequestLimits } from '@payment-integration/contract'
import { formatUnreadableJson } from '@payment-integration/contract/internal'
import { parse } from 'lossless-json'
import { InvalidLegacyRequestError } from '../errors.js'
import { findDuplicateKey } from '../internal/values.js'
import type { PaymentSelector } from '../payments/payment-store.js'
import { isPlainDecimal, parseNumberToken } from './invoice-and-fees.js'

/** Collects flaws, so that an answer names all of them at once. */
class RequestFlaws {
  readonly #flaws: LegacyErrorBody['details'] = []

  /** Notes a flaw, and returns an empty text in place of the value. `message` contains no value of the request. */
  add(name: string, code: string, message: string): '' {
    this.#flaws.push({ code, message: `${name} ${message}`, path: [name] })
    return ''
  }

  /** Notes that a value is missing or has the wrong type. */
  addType(name: string, value: unknown, expected: string): '' {
    return this.add(name, 'invalid_type', value === undefined ? 'is required' : `must be ${expected}`)
  }

  /** @throws InvalidLegacyRequestError `ERR_LEGACY_REQUEST_INVALID` when there is a flaw. */
  throwIfAny(): void {
    if (this.#flaws.length > 0) throw new InvalidLegacyRequestError(this.#flaws)
  }
}

/** Parses a chain id: at most 15 decimal digits without sign or leading zero. */
function parseChainId(text: string, flaws: RequestFlaws): number {
  if (/^[1-9][0-9]{0,14}$/.test(text)) return Number(text)
  flaws.add('chainId', 'invalid_format', 'must be a positive whole number in decimal digits, 15 at most')
  return 0
}

function parseHash(value: unknown, flaws: RequestFlaws): string {
  if (typeof value !== 'string') return flaws.addType('txHash', value, 'a string')
  if (/^0x[0-9a-fA-F]{64}$/.test(value)) return value.toLowerCase()
  const message = 'must start with 0x and have a fixed length of 66 characters, 64 of them hex digits'
  return flaws.add('txHash', 'invalid_format', message)
}

/** @throws InvalidLegacyRequestError `ERR_LEGACY_REQUEST_INVALID` with every flaw. */
export function parseTransactionKey(query: { readonly chainId: string; readonly txHash: string }): PaymentSelector {
  const flaws = new RequestFlaws()
  const key = { chainId: parseChainId(query.chainId, flaws), txHash: parseHash(query.txHash, flaws) }
  flaws.throwIfAny()
  return key
}

/** A verify request after every check: the amount is a plain decimal, the hash is lowercased. */
export interface CheckedVerifyRequest extends VerifyRequest {
  readonly invoiceAmount: string
}

type Fields = Readonly<Partial<Record<keyof VerifyRequest, unknown>>>

class NumberToken {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Parses the body of a verify request: strict UTF-8, JSON without duplicate keys, then every field. Unknown fields are
 * ignored. `invoiceAmount` is returned as the exact decimal in the body, as text.
 * @throws InvalidLegacyRequestError `ERR_LEGACY_REQUEST_INVALID` with every flaw, without values of the request.
 * @example const request = parseVerifyRequest(new Uint8Array(await incoming.arrayBuffer()))
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

function checkFields(fields: Fields): CheckedVerifyRequest {
  const flaws = new RequestFlaws()
  const request = {
    chainId: parseChainIdField(fields.chainId, flaws),
    txHash: parseHash(fields.txHash, flaws),
    invoiceAmount: parseAmount(fields.invoiceAmount, flaws),
    invoiceCurrency: parseCurrency(fields.invoiceCurrency, flaws),
    address: parsePayee(fields.address, flaws),
  }
  flaws.throwIfAny()
  return request
}

function parseChainIdField(value: unknown, flaws: RequestFlaws): number {
  if (value instanceof NumberToken) return parseChainId(value.text, flaws)
  flaws.addType('chainId', value, 'a number')
  return 0
}

function parseAmount(value: unknown, flaws: RequestFlaws): string {
  if (value instanceof NumberToken) {
    const inexact = 'must be 0 or more and exact as a number; send it as a string'
    return parseNumberToken(value.text) ?? flaws.add('invoiceAmount', 'inexact_number', inexact)
  }
  if (typeof value !== 'string') return flaws.addType('invoiceAmount', value, 'a decimal string or a number')
  if (isPlainDecimal(value)) return value
  const message = `must be a plain decimal such as 12.50: no sign, exponent or space, ${verifyRequestLimits.invoiceAmount} characters at most`
  return flaws.add('invoiceAmount', 'invalid_format', message)
}

function parseCurrency(value: unknown, flaws: RequestFlaws): string {
  if (typeof value !== 'string') return flaws.addType('invoiceCurrency', value, 'a string')
  if (currencyCodePattern.test(value)) return value
  const message = 'must be 1 to 16 capital letters, digits and . + - _, such as USD'
  return flaws.add('invoiceCurrency', 'invalid_format', message)
}

function parsePayee(value: unknown, flaws: RequestFlaws): string {
  if (typeof value !== 'string') return flaws.addType('address', value, 'a string')
  if (value !== '' && value.length <= verifyRequestLimits.address) return value
  const message = `must be an address or an account handle, ${verifyRequestLimits.address} characters at most`
  return flaws.add('address', 'invalid_format', message)
}
