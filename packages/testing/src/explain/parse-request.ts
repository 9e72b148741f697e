/** Recognizes and parses a pasted request: curl, gateway event, raw HTTP. Source: docs/explain.md. @module */
import { parseContentLength } from '@payment-integration/contract/internal-io'
import { UnreadableRequestError } from '../errors.js'
import { getHeaderValues, type HeaderPair, type ParsedRequest, toHeaderPairs } from './explain-input.js'
import { parseCurl } from './parse-curl.js'
import { dechunk, decodeSavedFile, fromLatin1, fromUtf8, toUtf8 } from './undo.js'
import { isRecord, type JsonRecord, parseJson } from './undo-json.js'

const lineFeed = 0x0a
const carriageReturn = 0x0d
/** Limit of a message's head in bytes, far above the limit of any server. */
const maxHeadBytes = 262_144
const requestLine = /^[A-Z]{3,10} \S{1,8192}(?: HTTP\/\d(?:\.\d)?)?$/
/** A header name of HTTP; a colon in front marks the pseudo headers of HTTP/2. */
const headerName = /^:?[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/

/** Parses a message: an optional request line, headers, an empty line, and the body. Lines end with CRLF or LF. */
function parseHttp(bytes: Uint8Array<ArrayBuffer>): ParsedRequest {
  const { head, body, isComplete } = splitMessage(bytes)
  const lines = head.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
  while (lines[0]?.trim() === '') lines.shift()
  if (requestLine.test(lines[0] ?? '')) lines.shift()
  const headers = parsePairs(lines, 'http')
  const warnings = isComplete ? [] : ['The message has no empty line after its headers, so its body is empty.']
  return { form: 'http', headers, ...removeFraming(headers, body, warnings) }
}

/**
 * Parses headers without a body: lines `Name: value`, a JSON object, or a JSON list of pairs.
 * @param input - A text, or the bytes of a saved file.
 * @returns Pairs of name and value, in their order.
 * @throws {@link UnreadableRequestError} `ERR_REQUEST_UNREADABLE` with the reason, such as the number of a bad line.
 */
export function parseHeaders(input: string | Uint8Array): readonly HeaderPair[] {
  const text = decodeText(decodeSavedFile(typeof input === 'string' ? toUtf8(input) : new Uint8Array(input)))
  if (text.length > maxHeadBytes) throw new UnreadableRequestError('headers', 'The headers are larger than 256 KiB.')
  const value = /^\s{0,64}[[{]/.test(text) ? parseJson(text) : undefined
  if (typeof value === 'object' && value !== null) {
    if (Array.isArray(value) && !value.every(Array.isArray))
      throw new UnreadableRequestError('headers', 'The headers are a JSON list of something other than pairs.')
    return toHeaderPairs((isRecord(value) && isRecord(value['headers']) ? value['headers'] : value) as never)
  }
  const lines = text.split(/\r?\n/)
  if (requestLine.test(lines[0] ?? '')) lines.shift()
  const filled = lines.filter((line) => line.trim() !== '')
  return parsePairs(filled, 'headers')
}

/** Splits the message at its first empty line. */
function splitMessage(bytes: Uint8Array<ArrayBuffer>) {
  let start = 0
  while (bytes[start] === lineFeed || bytes[start] === carriageReturn) start++
  // Latin-1 has a character for each byte, so an index in the text is also an index in the bytes.
  const text = fromLatin1(bytes.subarray(start, start + maxHeadBytes), false)
  const emptyLine = /\n\r?\n/.exec(text)
  if (emptyLine === null) {
    if (bytes.length - start > maxHeadBytes)
      throw new UnreadableRequestError(
        'http',
        'The request has no empty line in its first 256 KiB: it is no HTTP message.',
      )
    return { head: decodeText(bytes.slice(start)), body: new Uint8Array(), isComplete: false }
  }
  const end = start + emptyLine.index
  return { head: decodeText(bytes.slice(start, end)), body: bytes.slice(end + emptyLine[0].length), isComplete: true }
}

/** Decodes headers, which may have bytes that are not UTF-8. */
function decodeText(bytes: Uint8Array): string {
  return fromUtf8(bytes) ?? fromLatin1(bytes, false)
}

function parsePairs(lines: readonly string[], form: 'http' | 'headers'): HeaderPair[] {
  const pairs: [string, string][] = []
  for (const [index, line] of lines.entries()) {
    const last = pairs.at(-1)
    if (last !== undefined && /^[ \t]/.test(line)) {
      last[1] = `${last[1]} ${line.trim()}`
      continue
    }
    const at = line.indexOf(':', 1)
    const name = line.slice(0, Math.max(at, 0)).trim()
    if (!headerName.test(name))
      throw new UnreadableRequestError(
        form,
        `Line ${index + 1} of the headers is not Name: value. Paste a curl command or a raw HTTP message.`,
      )
    pairs.push([name, line.slice(at + 1).trim()])
  }
  if (pairs.length === 0) throw new UnreadableRequestError(form, 'The request has no headers.')
  return pairs
}

/** Removes HTTP chunks from the body, and a line end that an editor appended. */
function removeFraming(headers: readonly HeaderPair[], body: Uint8Array<ArrayBuffer>, warnings: readonly string[]) {
  if (getHeaderValues(headers, 'transfer-encoding').some((value) => /chunked/i.test(value))) {
    const text = fromUtf8(body)
    const joinedChunks = text === null ? null : dechunk(text)
    if (joinedChunks !== null)
      return { body: joinedChunks, warnings: [...warnings, 'The body was in chunks; they were joined.'] }
  }
  const length = parseContentLength(getHeaderValues(headers, 'content-length')[0]) ?? body.length
  const extra = body.slice(length)
  if (extra.length === 0 || extra.length > 4 || !/^[\r\n]{1,4}$/.test(fromUtf8(extra) ?? '')) return { body, warnings }
  return {
    body: body.slice(0, length),
    warnings: [...warnings, 'Line ends beyond the Content-Length were left out of the body.'],
  }
}

function decodeMarkedBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    throw new UnreadableRequestError('event', 'The body is marked as base64 and is not.')
  }
}

/** Parses an object with `headers` and `body`: the event of AWS Lambda, or a request in a log. */
function parseEvent(event: JsonRecord): ParsedRequest {
  const { headers, multiValueHeaders, body } = event
  const source = isRecord(multiValueHeaders) ? multiValueHeaders : headers
  if (typeof source !== 'object' || source === null)
    throw new UnreadableRequestError('event', 'The field headers of the JSON is neither an object nor a list.')
  const pairs = toHeaderPairs((Array.isArray(source) ? source.filter(Array.isArray) : source) as never)
  const warnings: string[] = []
  let bytes = new Uint8Array()
  if (typeof body === 'string') bytes = event['isBase64Encoded'] === true ? decodeMarkedBase64(body) : toUtf8(body)
  else if (body !== null && body !== undefined) {
    bytes = toUtf8(JSON.stringify(body))
    warnings.push('The field body is parsed JSON instead of a text; it was written again as compact JSON.')
  }
  return { form: 'event', headers: pairs, body: bytes, warnings }
}

/** Options of {@link parseRequest}. */
export interface ParseRequestOptions {
  /** A body that was saved separately, or the file of `--data @file`. @default the body of the request */
  readonly body?: Uint8Array | undefined
}

/** Limit of a request in characters or bytes. */
const maxRequestBytes = 16 * 1_048_576

/**
 * Parses a request in any known form. For raw HTTP, pass bytes, so that the body stays unchanged.
 * @throws {@link UnreadableRequestError} `ERR_REQUEST_UNREADABLE` with the reason, without quoting the request.
 * @throws {TypeError} When the request is neither text nor bytes.
 * @example
 * import { parseRequest } from '@payment-integration/testing/explain'
 * const { headers, body } = parseRequest("curl -H 'X-Service-Signature: …' --data-raw '{}' https://shop.example")
 */
export function parseRequest(request: string | Uint8Array, options: ParseRequestOptions = {}): ParsedRequest {
  if (typeof request !== 'string' && !ArrayBuffer.isView(request))
    throw new TypeError(`request is ${typeof request}; pass a string or a Uint8Array.`)
  if (request.length > maxRequestBytes)
    throw new UnreadableRequestError(null, `The request is larger than ${maxRequestBytes / 1_048_576} MiB.`)
  const bytes = decodeSavedFile(typeof request === 'string' ? toUtf8(request) : new Uint8Array(request))
  const parsed = parseForm(bytes, fromUtf8(bytes), options)
  if (options.body === undefined) return parsed
  // The warnings of the other forms are about the body that was replaced.
  return { ...parsed, body: new Uint8Array(options.body), warnings: parsed.form === 'curl' ? parsed.warnings : [] }
}

function parseForm(bytes: Uint8Array<ArrayBuffer>, text: string | null, options: ParseRequestOptions): ParsedRequest {
  const start = (text ?? '').trimStart()
  if (text !== null && start === '')
    throw new UnreadableRequestError(null, 'The request is empty; paste one, or name a file.')
  if (/^(?:\$ )?curl(?:\.exe)?\s/.test(start)) return parseCurl(start.replace(/^\$ /, ''), options.body !== undefined)
  if (start.startsWith('{')) {
    const value = parseJson(start)
    if (isRecord(value) && 'headers' in value) return parseEvent(value)
    throw new UnreadableRequestError(
      null,
      value === undefined
        ? 'The request begins like JSON and is not JSON; paste all of it, or pass a lone body with --body and --headers.'
        : 'The JSON has no headers; pass a lone body as --body, and the headers as --headers.',
    )
  }
  return parseHttp(bytes)
}
