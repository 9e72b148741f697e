/** Types and helpers of the console's pages and acts. @module */
import type { IntegrationView, Queries, Service } from '@payment-integration/core'
import { IntegrationError } from '@payment-integration/core'
import type { ActorCommands } from '@payment-integration/core/internal'
import type { Clock } from '@payment-integration/core/ports'
import type { Child } from 'hono/jsx'
import { FilterError, type QueryFields } from '../filters.js'
import type { Jobs } from '../jobs.js'
import type { Sampler } from '../live/sampler.js'
import type { ConsoleTools } from '../tools.js'
import { buildHref } from '../view/parts.js'
import { formatNumber, nameChain } from '../view/text.js'
import type { Role, Visit } from '../viewer.js'
import { ActError, type Fields } from '../web/run-form.js'

export type ConsoleService = Pick<
  Service,
  | ('queries' | 'indexers' | 'actingAs' | 'operatorSessions' | 'audit')
  | ('integrations' | 'identity' | 'legacy' | 'accounts' | 'legacyKeys' | 'operators')
>

export interface PageContent {
  readonly title: string
  /** The path of the section that the navigation highlights; `-`: none. */
  readonly section: string
  readonly body: Child
  /** The text in the search box. */
  readonly search?: string | undefined
  /** The query of the stream that updates the page; absent: the page is not live. */
  readonly live?: string | undefined
  /** The HTTP status. @default 200 */
  readonly status?: number | undefined
}

export interface Setting {
  readonly name: string
  readonly section: string
  readonly value: string
  readonly isDefault: boolean
  readonly defaultValue?: string | undefined
  readonly doc: string
}

interface SharedDeps {
  readonly service: ConsoleService
  readonly jobs: Jobs
  readonly tools: ConsoleTools
  readonly clock: Pick<Clock, 'now'>
}

export interface PageDeps extends SharedDeps {
  readonly settings?: readonly Setting[] | undefined
  /** Absent: nobody signs in, so there are no operators. */
  readonly signIn?: object | undefined
  readonly sampler: Sampler
  readonly role: Role
  readonly url: URL
}

/** Loads a page; null: there is none. @param name - The last part of the path, where that names an entity. */
export type Load = (deps: PageDeps, query: QueryFields, name: string) => Promise<PageContent | Goto | null>

/** A redirect to a page of the section `/payments`. */
export interface Goto {
  readonly goTo: string
}

export interface ActInput extends SharedDeps {
  readonly fields: Fields
  readonly visit: Visit
  /** The commands, with the viewer as the actor in the audit log. */
  readonly commands: ActorCommands
  readonly hasOidc: boolean
  /** The origin of the page, such as `http://127.0.0.1:4747`. */
  readonly origin: string
}

export type ActAnswer =
  | { readonly to: string; readonly note?: Note }
  | { readonly show: PageContent; readonly status?: number }

/** An act: a posted form at `/console/act/<name>`. An error of the core is shown with its message. */
export interface Act {
  readonly needs: Role
  run(input: ActInput): Promise<ActAnswer>
}

export type Acts = Readonly<Record<string, Act>>

/** Gives each of these acts the same required role. */
export const actsFor = (needs: Role, runs: Readonly<Record<string, Act['run']>>): Acts =>
  Object.fromEntries(Object.entries(runs).map(([name, run]) => [name, { needs, run }]))

/** The key of a sentence about an act's result. The URL holds only the key, so that no link can put text on a page. */
export type Note = keyof typeof notes

/** Results of acts that integrators do too. */
export const sharedNotes = {
  replayed: 'The delivery is due now. It is marked as a replay in its attempts.',
  'signed-out': 'You are signed out.',
  'api-ended': 'The previous API secret no longer works: requests with it are answered 401.',
  'signing-activated': 'Deliveries are signed with the new secret from now on.',
  'signing-aborted': 'The prepared signing secret is deleted. Remove it from the receiver.',
  'signing-ended': 'The previous signing secret is deleted.',
} as const

export type SharedNote = keyof typeof sharedNotes

const notes = {
  ...sharedNotes,
  joined: 'Your passphrase is set. Sign in with it.',
  'integration-enabled': 'The integration is enabled: its requests are answered, and its deliveries are sent.',
  'integration-disabled': 'The integration is disabled: its requests are answered 401, and its deliveries wait.',
  'url-set': 'The notification URL is saved; without one, nothing is delivered.',
  'account-created': 'The account is created.',
  'account-changed': 'The account is changed.',
  'account-removed': 'The account is removed.',
  'key-revoked': 'The key is revoked: its requests are answered 401.',
  'operator-enabled': 'The operator is enabled.',
  'operator-disabled': 'The operator is disabled, and all sessions have ended.',
  'role-set': 'The role is set, also in open sessions.',
  'email-found': 'These are the entries for the keyed hash of that address.',
  'redemption-attached': 'Resolved: the applicant is attached to the subject of the redemption.',
  'redemption-absent': 'Resolved: the redemption created no applicant, and the user may share again.',
  'redemption-surplus': 'Resolved, but the subject keeps its other applicant. Handle this one at the provider.',
  'hold-closed': 'The verification is no longer on hold.',
  'missing-closed': 'The applicant counts as deleted. Its donor may share again.',
} as const

export const findNoteIn = (all: Readonly<Record<string, string>>, name: string | null): string | null =>
  name !== null && Object.hasOwn(all, name) ? (all[name] ?? null) : null

export const findNote = (name: string | null) => findNoteIn(notes, name)

/** Returns a required field. @throws FilterError When the field is missing. */
export function requiredField(fields: Fields, name: string): string {
  const value = fields[name]
  if (value === undefined) throw new FilterError(`The field ${name} is empty.`)
  return value
}

const maxHours = 30 * 24

/** Parses a grace time in whole hours to milliseconds. @throws FilterError Unless it is 1 to 720 hours. */
export function graceField(fields: Fields): number {
  const text = requiredField(fields, 'graceHours')
  const hours = /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN
  if (!(hours >= 1 && hours <= maxHours))
    throw new FilterError(`The grace time is a whole number of hours, 1 to ${maxHours}.`)
  return hours * 3_600_000
}

/** Checks the confirmation of an act. @throws FilterError Unless its box is checked. */
export function checkConfirmed(fields: Fields): void {
  if (fields['confirmed'] !== 'yes') throw new FilterError('Check the box that confirms this, then try again.')
}

/** Finds the integration in the field `integration`. @throws ActError When there is none. */
export async function integrationField({ fields, service }: ActInput): Promise<IntegrationView> {
  const integration = await findIntegration(service, fields['integration'] ?? '')
  if (integration === null) throw new ActError('Choose an integration, or create one first.')
  return integration
}

/** Returns a tool. @throws ActError When the host passed none. */
export function requireTool<Tool>(tool: Tool | undefined): Tool {
  if (tool === undefined) throw new ActError('This server does not offer this tool.')
  return tool
}

export async function findIntegration(
  { integrations }: Pick<ConsoleService, 'integrations'>,
  text: string,
): Promise<IntegrationView | null> {
  if (!/^0x[0-9a-f]{40}$/i.test(text)) return null
  try {
    return await integrations.get(text)
  } catch (error) {
    if (error instanceof IntegrationError && error.code === 'ERR_INTEGRATION_NOT_FOUND') return null
    throw error
  }
}

export const describeIndexed = (indexers: ConsoleService['indexers']): string =>
  indexers
    .map((indexer) => indexer.status())
    .flatMap(({ chainId, indexed }) =>
      indexed ? [`chain ${nameChain(chainId)} is indexed to block ${formatNumber(indexed)}`] : [],
    )
    .join(', ') || `no block of ${indexers.length === 1 ? 'this chain' : 'any chain'} is indexed yet`

export const pageSize = 50

export const readChoices = async ({ service }: Pick<PageDeps, 'service'>) => ({
  chainIds: service.indexers.map(({ chainId }) => chainId),
  integrations: await integrationChoices(service.queries),
})

export const buildTopic = (topic: string, query: QueryFields) => new URLSearchParams({ ...query, topic }).toString()

/** The integrations that a form offers: the first 200. */
export const integrationChoices = (queries: Pick<Queries, 'integrations'>) => queries.integrations({ limit: 200 })

/** Reads one page of integrations, ordered by address. */
export async function readIntegrationsPage(
  queries: Pick<Queries, 'integrations'>,
  query: QueryFields,
  path: string,
  { size = pageSize, isFailing = false }: { readonly size?: number; readonly isFailing?: boolean } = {},
) {
  const rows = await queries.integrations({ afterAddress: query['after'], isFailing, limit: size + 1 })
  const health = isFailing ? 'failing' : undefined
  return cutPage(rows, ({ address }) => buildHref(path, { health, after: address }), size)
}

/** Returns one page of rows: those after the row with the key `after`, or the first rows when no row has that key. */
export function slicePage<Row>(all: readonly Row[], getKey: (row: Row) => string, query: QueryFields, path: string) {
  const remaining = all.slice(all.findIndex((row) => getKey(row) === query['after']) + 1)
  return cutPage(remaining, (row) => buildHref(path, { after: getKey(row) }))
}

/** Cuts rows after one page; `next` is the link to the rows after its last one, or null. */
export function cutPage<Row>(rows: readonly Row[], toHref: (last: Row) => string, size = pageSize) {
  const last = rows.length > size ? rows[size - 1] : undefined
  return { rows: rows.slice(0, size), next: last === undefined ? null : toHref(last) }
}
