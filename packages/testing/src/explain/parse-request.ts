/** Recognises a pasted request: curl, HAR, event of a gateway, raw HTTP. Source: docs/explain.md. @module */
import { isRecord, parseJson } from './body-form.js'
import { parseCurl } from './parse-curl.js'
import { parseEvent, parseHar } from './parse-har.js'
import { parseHttp } from './parse-http.js'
import type { ParsedRequest } from './parsed-request.js'
import { RequestUnreadableError } from './request-error.js'
import { fromUtf8, savedAsUtf8, toUtf8 } from './text-codes.js'

/** Options of {@link parseRequest}. */
export interface ParseRequestOptions {
  /** The body, if it was saved apart, or is that of `--data @file`. It replaces that of the request. */
  readonly body?: Uint8Array | undefined
  /** Which entry of a HAR file: its number from 1, or a part of its URL. @default the only one with a signature */
  readonly entry?: number | string | undefined
}

/** Limit of a request in characters or bytes. */
export const longestRequest = 16 * 1_048_576

/**
 * Parses a request in any known form. Bytes are best for raw HTTP, whose body then stays as it is.
 * @throws {@link RequestUnreadableError} `ERR_REQUEST_UNREADABLE` with the reason, and quoting nothing.
 * @throws {TypeError} When the request is neither text nor bytes.
 * @example const { headers, body } = parseRequest("curl -H 'X-Service-Signature: …' --data-raw '{…}' https://…")
 */
export function parseRequest(request: string | Uint8Array, options: ParseRequestOptions = {}): ParsedRequest {
  if (typeof request !== 'string' && !ArrayBuffer.isView(request))
    throw new TypeError('request is neither text nor bytes.')
  if (request.length > longestRequest)
    throw new RequestUnreadableError(null, `The request is larger than ${longestRequest / 1_048_576} MiB.`)
  const bytes = savedAsUtf8(typeof request === 'string' ? toUtf8(request) : new Uint8Array(request))
  const parsed = parseForm(bytes, fromUtf8(bytes), options)
  return options.body === undefined ? parsed : { ...parsed, body: new Uint8Array(options.body) }
}

function parseForm(bytes: Uint8Array<ArrayBuffer>, text: string | null, options: ParseRequestOptions): ParsedRequest {
  const start = (text ?? '').trimStart()
  if (text !== null && start === '')
    throw new RequestUnreadableError(null, 'The request is empty; paste one, or name a file.')
  if (/^(?:\$ )?curl(?:\.exe)?\s/.test(start)) return parseCurl(start.replace(/^\$ /, ''), options.body !== undefined)
  if (start.startsWith('{')) {
    const value = parseJson(start)
    if (isRecord(value) && isRecord(value['log'])) return parseHar(value['log'], options.entry)
    if (isRecord(value) && 'headers' in value) return parseEvent(value)
    throw new RequestUnreadableError(
      null,
      value === undefined
        ? 'The request begins like JSON and is not JSON; paste all of it, or pass a lone body with --body and --headers.'
        : 'The JSON is neither a HAR file nor has headers; pass a lone body as --body, and the headers as --headers.',
    )
  }
  return parseHttp(bytes)
}
