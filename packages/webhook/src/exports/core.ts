export type { Refusals } from '../errors.js'
export { WebhookError, type WebhookErrorCode, type WebhookRefusal } from '../errors.js'
export type { SigningKey } from '../signing-key.js'
export { type SignatureProof, signingKey, type VerifyBytesInput, verifyBytes } from '../verify-bytes.js'
