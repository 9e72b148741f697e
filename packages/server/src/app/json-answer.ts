/** Builds JSON answers. Source: docs/interface.md 4 (Cache-Control). @module */
import { cacheControl } from '@payment-integration/contract'

/**
 * An answer for one caller: JSON with `Cache-Control: private, no-store`, errors included. The headers are a plain
 * object, which the HTTP library writes without building a `Headers` first.
 */
export function jsonAnswer(body: object, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'Content-Type': 'application/json', 'Cache-Control': cacheControl, ...headers },
  })
}
