/** Sentences after acts of the portal. A URL names one, so that a link puts no words onto a page. @module */

const notes = {
  replayed: 'The delivery is due now. It is marked as a replay in its attempts.',
  'url-set': 'The notification URL is set. Send a test delivery to see its answer.',
  'url-removed': 'The notification URL is removed. New versions of payments are not delivered.',
  'api-ended': 'The previous API secret is ended.',
  'signing-active': 'Deliveries are signed with the new secret from now on.',
  'signing-aborted': 'The prepared signing secret is deleted. Nothing else changed.',
  'signing-ended': 'The previous signing secret is ended.',
  'signed-out': 'You are signed out.',
} as const

/** A sentence. */
export type PortalNote = keyof typeof notes

/** The sentence of a URL's parameter `note`; null: there is none. */
export const portalNoteOf = (given: string | null): string | null =>
  given !== null && Object.hasOwn(notes, given) ? notes[given as PortalNote] : null
