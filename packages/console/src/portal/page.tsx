/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Paths, sections, forms and notes of the portal. @module */
import { ErrorPage } from '../pages/audit.js'
import { PostForm, type PostFormProps } from '../view/forms.js'
import type { Sections } from '../view/layout.js'
import { linksBelow } from '../web/paths.js'

/** Where the portal is mounted. */
export const portalBase = '/portal'

/** The sections of the portal. */
export const portalSections: Sections = [
  ['', 'Overview'],
  ['/payments', 'Payments'],
  ['/deliveries', 'Deliveries'],
  ['/endpoint', 'Endpoint'],
  ['/secrets', 'Secrets'],
]

/** A URL of the portal with these parameters. */
export const portalHref = linksBelow(portalBase)

/** A form that acts. @see PostForm */
export function PortalForm({ act, ...form }: Omit<PostFormProps, 'action'> & { readonly act: string }) {
  return <PostForm {...form} action={`${portalBase}/act/${act}`} />
}

/** The content of a page that says why there is nothing else. */
export const problemPage = (title: string, text: string) => ({
  title,
  section: '-',
  body: <ErrorPage title={title} text={text} home={portalBase} />,
})

/** Sentences after acts. A URL names one, so that a link puts no words onto a page. */
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
