export { HandlerError, type HandlerOptions, type IncomingDelivery } from '../adapters/handler-options.js'
export {
  createVerifier,
  type Secrets,
  type VerifiedDelivery,
  type Verifier,
  type VerifierOptions,
} from '../create-verifier.js'
export { type Delivery, integrationHeader, type Limits, type RequestLike, signatureHeader } from '../delivery.js'
export {
  explainRejection,
  isWebhookRejection,
  WebhookError,
  type WebhookErrorCode,
  type WebhookRejection,
} from '../errors.js'
export { readBody } from '../read-body.js'
export type { Snapshot } from '../snapshot.js'
export { verifySignature } from '../verify-signature.js'
