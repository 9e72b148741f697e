export { normaliseEmail } from '../emails/normalise-email.js'
export { createCheckedProvider } from '../identity/checked-provider.js'
export {
  EmailProofError,
  RedemptionRejectedError,
  ShareRequestError,
  SharingMisconfiguredError,
  SharingUnavailableError,
  VerificationNotSharedError,
} from '../identity/errors.js'
export { parseShareRequest, type ShareBody } from '../identity/parse-share-request.js'
export { checkNamespace, defaultNamespace } from '../identity/redemption.js'
export type * from '../identity-types.js'
