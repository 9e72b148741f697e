/** Answers as the service writes them. Source: docs/interface.md 4 (Cache-Control), 5, 7. @module */
import {
  cacheControl,
  type ErrorBody,
  jsonContentType,
  type LegacyErrorBody,
  notFoundBody,
  unauthorizedBody,
} from '@payment-integration/contract'

/** A JSON answer for one caller, never cached. */
export function answer(body: object, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'Content-Type': jsonContentType, 'Cache-Control': cacheControl, ...headers },
  })
}

/** `{"error": "<message>"}`. */
export function refuse(status: number, error: string, more: Omit<ErrorBody, 'error'> = {}): Response {
  return answer({ error, ...more }, status)
}

/** One flaw of a legacy request. */
export type LegacyFlaw = LegacyErrorBody['details'][number]

/** A legacy 400 with every flaw. Source: docs/interface.md 4.3. */
export function refuseLegacy(flaws: readonly LegacyFlaw[]): Response {
  return answer({ error: 'Invalid request', details: flaws }, 400)
}

/** The one 401. Source: docs/interface.md 5 rule 3. */
export function unauthorized(scheme: 'Basic' | 'Bearer'): Response {
  return answer(unauthorizedBody, 401, { 'WWW-Authenticate': `${scheme} realm="payment-integration"` })
}

/** The 404 of an unknown path. */
export function notFound(): Response {
  return answer(notFoundBody, 404)
}
