export { HandlerError, type HandlerOptions, type IncomingDelivery, type Refused } from '../adapters/handler-options.js'
export {
  createVerifier,
  type Secrets,
  type VerifiedDelivery,
  type Verifier,
  type VerifierOptions,
} from '../create-verifier.js'
export { type Delivery, integrationHeader, type Limits, type RequestLike, signatureHeader } from '../delivery.js'
export {
  explainRefusal,
  isWebhookRefusal,
  type Refusals,
  WebhookError,
  type WebhookErrorCode,
  type WebhookRefusal,
} from '../errors.js'
export { readBody } from '../read-body.js'
export type { Snapshot } from '../snapshot.js'
export { verifySignature } from '../verify-signature.js'
