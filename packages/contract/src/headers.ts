/** Header names and values of the wire. Source: docs/interface.md 4 (Cache-Control), 6 (Headers). @module */

/** `t=<unix seconds>,v1=<64 lowercase hex characters>`. Source: docs/interface.md 6. */
export const signatureHeader = 'X-Service-Signature'
/** The integration of a delivery, lowercased: an unauthenticated routing hint. Source: docs/interface.md 6. */
export const integrationHeader = 'X-Service-Integration'
/** `User-Agent` of every notification. */
export const notificationUserAgent = 'payment-integration'
/** The `Cache-Control` of every response of areas (a) and (c). Source: docs/interface.md 4. */
export const cacheControl = 'private, no-store'
/** Content type of every body. Source: docs/interface.md 6. */
export const jsonContentType = 'application/json'
