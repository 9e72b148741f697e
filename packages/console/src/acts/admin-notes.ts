/** Sentences after the acts on integrations, accounts, keys, operators and identity. @module */

/** Sentences by the name that stands in the address. */
export const adminNotes = {
  'integration-enabled': 'The integration is enabled: its requests are answered, and its deliveries are sent.',
  'integration-disabled': 'The integration is disabled: its requests are answered 401, and its deliveries wait.',
  'url-set': 'The notification URL is set.',
  'api-ended': 'The previous API secret is ended: requests with it are answered 401.',
  'signing-activated': 'Deliveries are signed with the prepared secret from now on.',
  'signing-aborted': 'The prepared signing secret is deleted. Remove it from the receiver.',
  'signing-ended': 'The previous signing secret is deleted.',
  'account-created': 'The account is created.',
  'account-changed': 'The account is changed.',
  'account-removed': 'The account is removed.',
  'key-revoked': 'The key is revoked: its requests are answered 401.',
  'operator-enabled': 'The operator is enabled.',
  'operator-disabled': 'The operator is disabled, and all sessions have ended.',
  'role-set': 'The role is set, also in open sessions.',
  'email-found': 'Below is everything of the keyed hash of that address.',
  'redemption-attached': 'Resolved: the applicant is attached to the subject of the redemption.',
  'redemption-absent': 'Resolved: the redemption created no applicant, and the user may share again.',
  'redemption-surplus': 'Resolved, but the subject keeps its other applicant. Handle this one at the provider.',
  'hold-closed': 'The verification is no longer on hold.',
  'missing-closed': 'The applicant counts as deleted. Its donor may share again.',
} as const
