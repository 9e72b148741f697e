/**
 * Signs a request: HMAC-SHA256 over time, method, path with query, and body. Source: docs/interface.md 4.2.
 *
 * @module
 */
import { hmacHex } from './internal/hmac.js'

/** The signed parts of a request. */
export interface RequestToSign {
  readonly secretKey: string
  /** Unix time in whole seconds; the provider accepts about a minute either way. */
  readonly timestamp: number
  /** In upper case, such as `POST`. */
  readonly method: string
  /** Path with the exact query, beginning with `/`. */
  readonly uri: string
  /** The exact bytes of the body. @default none */
  readonly body?: Uint8Array | undefined
}

/** The value of `X-App-Access-Sig`: 64 lowercase hex digits. */
export function signRequest({ secretKey, timestamp, method, uri, body }: RequestToSign): Promise<string> {
  return hmacHex('SHA-256', secretKey, `${timestamp}${method}${uri}`, body ?? new Uint8Array(0))
}
