export type {
  ApplicantRecord,
  ApplicantView,
  NewApplicant,
  Redemption,
  Rejection,
  ReviewResult,
  StateOnTheWay,
} from '../identity-provider/applicants.js'
export {
  type DigestAlgorithm,
  type ErrorCode,
  type IdentityProviderOptions,
  identityProviderDefaults,
  numberedErrors,
  type ProviderClient,
  type WebhookTarget,
} from '../identity-provider/authenticate.js'
export { type ProviderControl, type TriggerIdentity, triggerIdentity } from '../identity-provider/control.js'
export type { ProviderFault, ProviderFaultAnswer, ProviderOperation } from '../identity-provider/faults.js'
export {
  createIdentityProvider,
  type IdentityProviderControl,
  type LocalIdentityProvider,
  type RequestRecord,
  startIdentityProvider,
  type TestIdentityProvider,
} from '../identity-provider/provider.js'
export type { DueWebhook, WebhookDelivery, WebhookRun } from '../identity-provider/webhooks.js'
