export type { FetchHandler, FetchRequest } from '../adapters/fetch-source.js'
export {
  HandlerError,
  type HandlerOptions,
  type IncomingDelivery,
  type Refused,
  type WebResponse,
} from '../adapters/handler-options.js'
export type { NodeHandler, NodeRequest, NodeResponse } from '../adapters/node-source.js'
export {
  createVerifier,
  type Secrets,
  type SecretsOf,
  type VerifiedDelivery,
  type Verifier,
  type VerifierOptions,
} from '../create-verifier.js'
export {
  type BodyReader,
  bodyDefaults,
  type Delivery,
  freshnessDefaults,
  type HeadersLike,
  integrationHeader,
  type Limits,
  type RawBody,
  type RequestLike,
  signatureHeader,
} from '../delivery.js'
export {
  explainRefusal,
  isWebhookRefusal,
  type Refusals,
  WebhookError,
  type WebhookErrorCode,
  type WebhookRefusal,
} from '../errors.js'
export { type ReadBodyOptions, readBody } from '../read-body.js'
export type { Snapshot, SnapshotInvoice, SnapshotRecipient, SnapshotState } from '../snapshot.js'
export { type SignatureProof, type VerifySignatureInput, verifySignature } from '../verify-signature.js'
