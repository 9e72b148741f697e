export type {
  ApplicantRecord,
  ApplicantView,
  NewApplicant,
  Rejection,
  ReviewResult,
} from '../identity-provider/applicants.js'
export type { ProviderControl } from '../identity-provider/control.js'
export { type ErrorCode, numberedErrors } from '../identity-provider/errors.js'
export type { ProviderFault, ProviderFaultAnswer, ProviderOperation } from '../identity-provider/faults.js'
export {
  type DigestAlgorithm,
  type IdentityProviderOptions,
  identityProviderDefaults,
  type ProviderClient,
  type WebhookTarget,
} from '../identity-provider/options.js'
export {
  createIdentityProvider,
  type IdentityProviderControl,
  type LocalIdentityProvider,
  type RequestRecord,
} from '../identity-provider/provider.js'
export type { StateOnTheWay } from '../identity-provider/reviews.js'
export { startIdentityProvider, type TestIdentityProvider } from '../identity-provider/start.js'
export type { Redemption } from '../identity-provider/state.js'
export { type TriggerIdentity, triggerIdentity } from '../identity-provider/trigger-identity.js'
export type { DueWebhook, WebhookDelivery, WebhookRun } from '../identity-provider/webhooks.js'
