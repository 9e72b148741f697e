/** Types of the portal's pages and acts; its paths, sections, forms and notes. @module */
import type { Clock } from '@payment-integration/core/ports'
import type { QueryFields } from '../filters.js'
import { findNoteIn, type Goto, type PageContent, sharedNotes } from '../pages/page.js'
import { PostForm, type PostFormProps } from '../view/forms.js'
import type { Sections } from '../view/layout.js'
import { createHrefBuilder } from '../view/parts.js'
import type { DeliveryContext } from '../view/rows.js'
import type { Fields } from '../web/run-form.js'
import type { IntegrationScope } from './integration-scope.js'

export const portalBase = '/portal'

export const portalSections: Sections = {
  Activity: ['Overview', 'Payments', 'Deliveries'],
  Configuration: ['Endpoint', 'Secrets'],
}

/** The dependencies of pages, which read only rows of the tenant. */
export interface PortalPageDeps {
  readonly tenant: IntegrationScope
  readonly clock: Pick<Clock, 'now'>
  /** The public origin of the service, such as `https://pay.example`. */
  readonly origin: string
}

/** Loads a page; null: there is none. @param name - The last part of the path, where that names an entity. */
export type PortalLoad = (deps: PortalPageDeps, query: QueryFields, name: string) => Promise<PageContent | Goto | null>

/** A redirect to a path below the base, with a note to show there; or a page that is shown once. */
type PortalAnswer = { readonly to: string; readonly note: keyof typeof notes } | { readonly show: PageContent }

/** Acts by their names in the URL. Each changes only the signed-in integration. */
export type PortalActs = Readonly<Record<string, (tenant: IntegrationScope, fields: Fields) => Promise<PortalAnswer>>>

export const portalHref = createHrefBuilder(portalBase)

export function PortalForm({ act, ...form }: Omit<PostFormProps, 'action'> & { readonly act: string }) {
  return <PostForm {...form} action={`${portalBase}/act/${act}`} />
}

/** Keeps the named parameters: a list of the portal reads and repeats no other. */
export const pickFields = (query: QueryFields, names: readonly string[]): QueryFields =>
  Object.fromEntries(Object.entries(query).filter(([name]) => names.includes(name)))

export async function readContext(deps: Pick<PortalPageDeps, 'tenant' | 'clock'>): Promise<DeliveryContext> {
  const health = await deps.tenant.endpoint()
  return { now: deps.clock.now(), endpoints: health === null ? [] : [health] }
}

/** Sentences about the results of acts. A URL holds only the key, so that no link can put text on a page. */
const notes = {
  ...sharedNotes,
  'url-set': 'The notification URL is set. Send a test delivery to see its answer.',
  'url-removed': 'The notification URL is removed. New versions of payments are not delivered.',
} as const

export const findPortalNote = (name: string | null) => findNoteIn(notes, name)
