/** Parses a HAR file, as browsers and proxies export it, and the event of a gateway. @module */
import { signatureHeader } from '@payment-integration/contract'
import { parseInstant } from '@payment-integration/contract/parse'
import { isRecord, type JsonRecord } from './body-form.js'
import { bodyOfText } from './parse-http.js'
import type { ParsedRequest } from './parsed-request.js'
import { type HeaderPair, readHeaders, valuesOf } from './read-headers.js'
import { RequestUnreadableError } from './request-error.js'

/** Parses the `log` of a HAR file. @param chosen - The number of an entry from 1, or a part of its URL. */
export function parseHar(log: JsonRecord, chosen: number | string | undefined): ParsedRequest {
  const entries = (Array.isArray(log['entries']) ? log['entries'] : []).filter(isRecord)
  const entry = choose(entries, chosen)
  const request = isRecord(entry['request']) ? entry['request'] : {}
  return {
    form: 'har',
    headers: headersOf(entry),
    recordedAt: parseInstant(entry['startedDateTime']),
    ...postData(request['postData']),
  }
}

function choose(entries: readonly JsonRecord[], chosen: number | string | undefined): JsonRecord {
  const [first] = entries
  if (first === undefined) throw new RequestUnreadableError('har', 'The HAR file has no entries.')
  const found =
    typeof chosen === 'number'
      ? entries.slice(chosen - 1, chosen)
      : typeof chosen === 'string'
        ? entries.filter((entry) => urlOf(entry).includes(chosen))
        : entries.length === 1
          ? entries
          : entries.filter((entry) => valuesOf(headersOf(entry), signatureHeader).length > 0)
  const [only] = found
  if (only !== undefined && found.length === 1) return only
  throw new RequestUnreadableError(
    'har',
    `Of the ${entries.length} entries of the HAR file ${found.length} match; choose one by its number from 1, or by a part of its URL.`,
  )
}

function urlOf(entry: JsonRecord): string {
  return isRecord(entry['request']) ? String(entry['request']['url']) : ''
}

function headersOf(entry: JsonRecord): HeaderPair[] {
  const headers = isRecord(entry['request']) ? entry['request']['headers'] : []
  const pairs = (Array.isArray(headers) ? headers : []).filter(isRecord)
  return readHeaders(pairs.map(({ name, value }) => [String(name), String(value)] as const))
}

function postData(data: unknown): Pick<ParsedRequest, 'body' | 'warnings'> {
  const warnings = ['A HAR file holds the body as text: bytes that were not UTF-8 are lost.']
  if (!isRecord(data)) return { body: new Uint8Array(), warnings: ['The HAR file has no body for this request.'] }
  const { text, params, encoding } = data
  if (typeof text === 'string' && (text !== '' || !Array.isArray(params))) {
    const body = bodyOfText(text, encoding === 'base64')
    if (body === null)
      throw new RequestUnreadableError('har', 'The body in the HAR file is marked as base64 and is not.')
    return { body, warnings: encoding === 'base64' ? [] : warnings }
  }
  throw new RequestUnreadableError('har', 'The HAR file holds a parsed form instead of the bytes of the body.')
}

/** Parses an object with `headers` and `body`: the event of AWS Lambda, or a request in a log. */
export function parseEvent(event: JsonRecord): ParsedRequest {
  const { headers, multiValueHeaders, body } = event
  const source = isRecord(multiValueHeaders) ? multiValueHeaders : headers
  if (typeof source !== 'object' || source === null)
    throw new RequestUnreadableError('event', 'The field headers of the JSON is no object and no list.')
  const pairs = readHeaders((Array.isArray(source) ? source.filter(Array.isArray) : source) as never)
  const warnings: string[] = []
  let bytes: Uint8Array<ArrayBuffer> | null = new Uint8Array()
  if (typeof body === 'string') bytes = bodyOfText(body, event['isBase64Encoded'] === true)
  else if (body !== null && body !== undefined) {
    bytes = bodyOfText(JSON.stringify(body), false)
    warnings.push('The field body is parsed JSON instead of a text; it was written again as compact JSON.')
  }
  if (bytes === null) throw new RequestUnreadableError('event', 'The body is marked as base64 and is not.')
  return { form: 'event', headers: pairs, body: bytes, recordedAt: null, warnings }
}
