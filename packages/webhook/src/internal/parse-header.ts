/** The signature header, strictly. Source: INTERFACE 6, signature rule 3. @module */
import { SignatureMalformedError, SignatureMissingError, SignatureSchemeError } from '../errors.js'

/** What a well-formed header claims. */
export interface SignatureClaim {
  /** The text of `t`, as it was hashed. */
  readonly timestamp: string
  /** `t` in unix seconds. */
  readonly signedAt: number
  /** The `v1` codes, 32 bytes each. */
  readonly candidates: readonly Uint8Array[]
}

/** Longer headers are refused unread; the service's own has 80 characters. */
const maxHeaderLength = 4096
/** More `v1` codes than these are refused: each may cost one comparison per secret. */
const maxCandidates = 8

/**
 * Reads `t=<unix seconds>,v1=<hex>[,v1=<hex>][,<unknown>=<anything>]`. Spaces and tabs around a field are allowed, because
 * HTTP lets proxies join repeated headers with them.
 * @throws {@link SignatureMissingError} `ERR_SIGNATURE_MISSING`, {@link SignatureMalformedError} `ERR_SIGNATURE_MALFORMED`,
 * {@link SignatureSchemeError} `ERR_SIGNATURE_SCHEME`.
 */
export function parseSignatureHeader(header: unknown): SignatureClaim {
  const value = Array.isArray(header) ? header.join(',') : header
  if (value === undefined || value === null) throw new SignatureMissingError()
  if (typeof value !== 'string') throw new SignatureMalformedError(`it is a ${typeof value}, not a string`)
  if (value.length > maxHeaderLength)
    throw new SignatureMalformedError(`it has more than ${maxHeaderLength} characters`)
  if (/^[ \t]*$/.test(value)) throw new SignatureMissingError()

  let timestamp: string | undefined
  const codes: string[] = []
  for (const field of value.split(',')) {
    const parsed = parseField(field)
    if (parsed === undefined) throw new SignatureMalformedError('a field is not name=value')
    const [name, content] = parsed
    if (name === 't') {
      if (timestamp !== undefined) throw new SignatureMalformedError('t appears more than once')
      if (!/^(0|[1-9][0-9]{0,11})$/.test(content))
        throw new SignatureMalformedError('t is not a whole number of 1 to 12 digits (unix seconds, not milliseconds)')
      timestamp = content
    } else if (name === 'v1') {
      if (!/^[0-9a-f]{64}$/.test(content)) throw new SignatureMalformedError('v1 is not 64 lowercase hex characters')
      codes.push(content)
      if (codes.length > maxCandidates) throw new SignatureMalformedError(`v1 appears more than ${maxCandidates} times`)
    }
  }
  if (timestamp === undefined) throw new SignatureMalformedError('t is missing')
  if (codes.length === 0) throw new SignatureSchemeError()
  return { timestamp, signedAt: Number(timestamp), candidates: codes.map(hexBytes) }
}

/**
 * A field as name and content without the blanks around them, or `undefined` when it is not `name=content`. Every character is looked
 * at a fixed number of times: anybody may send a header of blanks.
 */
export function parseField(field: string): [name: string, content: string] | undefined {
  const equals = field.indexOf('=')
  let start = 0
  while (isBlank(field, start)) start++
  let end = field.length
  while (end > equals + 1 && isBlank(field, end - 1)) end--
  const name = field.slice(start, equals)
  const content = field.slice(equals + 1, end)
  return equals <= start || /\s/.test(name) || /[\n\r\u2028\u2029]/.test(content) ? undefined : [name, content]
}

function isBlank(text: string, index: number): boolean {
  return text[index] === ' ' || text[index] === '\t'
}

function hexBytes(hex: string): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, index) => Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16))
}
