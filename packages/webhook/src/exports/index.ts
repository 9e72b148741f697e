export type { FetchHandler, FetchRequest } from '../adapters/fetch-types.js'
export type { WebResponse } from '../adapters/globals.js'
export { HandlerError } from '../adapters/handler-error.js'
export type { HandlerOptions, IncomingDelivery, Refused } from '../adapters/handler-options.js'
export type { NodeHandler, NodeRequest, NodeResponse } from '../adapters/node-types.js'
export {
  createVerifier,
  type Secrets,
  type SecretsOf,
  type VerifiedDelivery,
  type Verifier,
  type VerifierOptions,
} from '../create-verifier.js'
export type { BodyReader, Delivery, HeadersLike, RawBody, RequestLike } from '../delivery.js'
export { isWebhookRefusal, type Refusals, WebhookError, type WebhookErrorCode, type WebhookRefusal } from '../errors.js'
export { explainRefusal } from '../explain-refusal.js'
export { integrationHeader, signatureHeader } from '../headers.js'
export { bodyDefaults, freshnessDefaults, type Limits } from '../limits.js'
export { type ReadBodyOptions, readBody } from '../read-body.js'
export type { Snapshot, SnapshotInvoice, SnapshotRecipient, SnapshotState } from '../snapshot.js'
export type { SignatureProof } from '../verify-bytes.js'
export { type VerifySignatureInput, verifySignature } from '../verify-signature.js'
