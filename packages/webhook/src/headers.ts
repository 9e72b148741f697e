/** Names of the delivery's headers. Source: docs/interface.md 6. @module */

/** Carries `t=<unix seconds>,v1=<64 lowercase hex characters>`. */
export const signatureHeader = 'X-Service-Signature'
/** Carries the integration address, lowercased: an unauthenticated hint that chooses the secret. */
export const integrationHeader = 'X-Service-Integration'
