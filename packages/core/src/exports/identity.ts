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
export type * from '../identity/identity-types.js'
export { checkNamespace, defaultNamespace } from '../identity/redemption.js'
export { parseShareRequest, type ShareBody } from '../identity/share.js'
