/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** What pages and acts of the portal receive and answer; its paths, sections, forms and notes. @module */
import type { QueryFields } from '../filters.js'
import type { Goto, PageContent } from '../pages/page.js'
import { PostForm, type PostFormProps } from '../view/forms.js'
import type { Sections } from '../view/layout.js'
import { createHrefBuilder } from '../view/parts.js'
import type { Fields } from '../web/run-form.js'
import type { IntegrationScope } from './integration-scope.js'

export const portalBase = '/portal'

export const portalSections: Sections = {
  Activity: ['Overview', 'Payments', 'Deliveries'],
  Configuration: ['Endpoint', 'Secrets'],
}

/** Dependencies of pages. Every read is of the tenant. */
export interface PortalPageDeps {
  readonly tenant: IntegrationScope
  readonly now: () => number
  /** The address of the service for people, such as `https://pay.example`. */
  readonly origin: string
}

/** Reads a page; null: there is none. @param name - The end of the path, where it names one thing. */
export type PortalLoad = (deps: PortalPageDeps, query: QueryFields, name: string) => Promise<PageContent | Goto | null>

/** A path below the base to go to, with what is said there; or a page that is shown once. */
type PortalAnswer = { readonly to: string; readonly note: PortalNote } | { readonly show: PageContent }

/** Acts by their names in the address. Each changes the signed-in integration alone. */
export type PortalActs = Readonly<Record<string, (tenant: IntegrationScope, fields: Fields) => Promise<PortalAnswer>>>

export const portalHref = createHrefBuilder(portalBase)

export function PortalForm({ act, ...form }: Omit<PostFormProps, 'action'> & { readonly act: string }) {
  return <PostForm {...form} action={`${portalBase}/act/${act}`} />
}

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

type PortalNote = keyof typeof notes

export const findPortalNote = (name: string | null): string | null =>
  name !== null && Object.hasOwn(notes, name) ? notes[name as PortalNote] : null
