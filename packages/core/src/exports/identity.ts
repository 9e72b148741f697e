export type { HostProof, IdentityAccountCommands, IssuedCode, ProveFor } from '../identity/accounts.js'
export { createCheckedProvider } from '../identity/checked-provider.js'
export { normaliseEmail } from '../identity/emails.js'
export {
  EmailProofError,
  RedemptionRejectedError,
  ShareRequestError,
  SharingMisconfiguredError,
  SharingUnavailableError,
  VerificationNotSharedError,
} from '../identity/errors.js'
export type { Identity, IdentityActs } from '../identity/identity.js'
export type { CloseRequest, CloseResult, ResolveRequest, ResolveResult } from '../identity/operator-acts.js'
export { checkNamespace, defaultNamespace } from '../identity/redemption.js'
export type { ShareInput } from '../identity/share.js'
export { parseShareRequest, type ShareBody } from '../identity/share.js'
export type {
  DirectDecision,
  DirectVerification,
  RecordDirectVerification,
  Verdict,
  VerdictOutcome,
} from '../identity/webhooks.js'
