export {
  EmailProofError,
  IdentityMisconfiguredError,
  IdentityUnavailableError,
  InvalidShareRequestError,
  ShareTokenRejectedError,
  VerificationUnavailableError,
} from '../errors.js'
export type { HostProof } from '../identity/accounts.js'
export { normalizeEmail } from '../identity/emails.js'
export type { Identity } from '../identity/identity.js'
export { parseShareRequest, type ShareInput } from '../identity/share.js'
export type { ProviderVerdict } from '../identity/webhooks.js'
