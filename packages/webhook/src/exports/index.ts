export { bodyDefaults } from '../body-limit.js'
export {
  createVerifier,
  type Secrets,
  type SecretsOf,
  type VerifiedDelivery,
  type Verifier,
  type VerifierOptions,
} from '../create-verifier.js'
export type { BodyReader, Delivery, HeadersLike, RawBody, RequestLike } from '../delivery.js'
export * from '../errors.js'
export { assertFresh, type FreshnessOptions, freshnessDefaults } from '../freshness.js'
export { integrationHeader, signatureHeader } from '../headers.js'
export { type ReadBodyOptions, readBody } from '../read-body.js'
export type { Invoice, PaymentState, Recipient, Snapshot } from '../snapshot.js'
export { type SignatureProof, type VerifySignatureInput, verifySignature } from '../verify-signature.js'
