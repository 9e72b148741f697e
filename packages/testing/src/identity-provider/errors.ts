/**
 * Error answers of the provider, with its own numbers and names.
 * Source: the provider's error codes, its pages on reusing and on copying an applicant, and on authentication.
 * @module
 */

/** Names and descriptions of numbered errors. */
export const numberedErrors = {
  4000: ['app-token-invalid-format', 'Invalid format of the X-App-Token value'],
  4001: ['app-token-not-found', 'App token does not exist'],
  4003: ['app-token-signature-mismatch', 'Invalid signature'],
  4004: ['app-token-request-expired', 'Token expired'],
  4006: ['app-token-not-all-auth-params-provided', 'Not all required authorization headers were provided'],
  10501: ['not-in-partners-list', 'Reusing applicants is not allowed since the target is not your partner'],
  10502: ['invalid-partner-id', 'The partner ID extracted from the share token is invalid'],
  10503: ['invalid-share-token', 'The provided share token is malformed or expired'],
  10504: ['non-suitable-share-token', 'The share token is not suitable for reuse with the given level'],
  10505: ['reusable-kyc-disabled', 'Reusable KYC functionality is disabled'],
  10506: ['reusable-kyc-not-reusable', 'The donor applicant does not meet reuse eligibility criteria'],
  10507: ['reusable-kyc-not-approved-applicant', 'The donor applicant is not in an approved state'],
  10508: ['reusable-kyc-not-active-applicant', 'The donor applicant is not in an active state'],
  10509: ['reusable-kyc-not-kyc-moderation-type', 'The moderation type of the source KYC is not suitable for reuse'],
  10510: ['reusable-kyc-not-selfie-or-identity-doc', 'Required selfie or identity document is missing'],
  10511: ['reusable-kyc-not-selfie-liveness', 'Liveness is required but not satisfied by the source data'],
  10512: [
    'reusable-kyc-not-req-doc-overlap',
    'Required document types do not overlap between source and target levels',
  ],
  10513: ['reusable-kyc-not-compatible-doc-type', 'Not Reusable KYC for level'],
  10514: ['reusable-kyc-not-actual-poi-date', 'The proof of identity is outdated and not valid for reuse'],
  10515: ['reusable-kyc-not-actual-poa-date', 'The proof of address is outdated and not valid for reuse'],
  10516: ['reusable-kyc-not-acceptable-age', 'The donor applicant does not meet the age criteria of the level'],
  10517: ['reusable-kyc-incompatible-capture-settings', 'The capture settings of source and target levels differ'],
  // Two pages of the provider use this number. The page on reuse names it `reusable-kyc-email-mismatch`.
  10518: ['copy-applicant-disabled', 'Copying applicants is disabled for you'],
  10519: ['reusable-kyc-phone-mismatch', 'The phone of the donor does not match the phone of the applicant'],
  10521: ['reusable-kyc-inactive-sumsub-id-account', 'The account of the donor holds no documents'],
} as const satisfies Readonly<Record<number, readonly [name: string, description: string]>>

/** An error number of the provider. */
export type ErrorCode = keyof typeof numberedErrors

/** An answer other than success. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number
  readonly errorCode: ErrorCode | null
  /** @param description - The provider's description, or the number of a known error. */
  constructor(status: number, description: string | ErrorCode) {
    super(typeof description === 'string' ? description : numberedErrors[description][1])
    this.status = status
    this.errorCode = typeof description === 'string' ? null : description
  }
}

/** The body of a refusal. */
export function refusalBody({ status, errorCode, message }: Refusal, correlationId: string): Record<string, unknown> {
  const numbered = errorCode === null ? {} : { errorCode, errorName: numberedErrors[errorCode][0] }
  const type = 'de.smtdp.commons.service.exceptions.ServiceException'
  return { code: status, correlationId, ...numbered, description: message, type }
}
