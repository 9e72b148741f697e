/** Input and answer of an act. @module */
import type { ActorCommands, Service } from '@payment-integration/core'
import type { Jobs } from '../jobs/jobs.js'
import type { PageContent } from '../page-types.js'
import type { ConsoleTools } from '../tools/tools.js'
import type { Role, Visit } from '../viewer.js'
import { adminNotes } from './admin-notes.js'

/** Input of an act. */
export interface ActInput {
  /** The fields of the form; those that are missing or empty are absent. */
  readonly fields: Readonly<Record<string, string>>
  readonly visit: Visit
  /** Commands whose audit records carry the viewer's name. */
  readonly commands: ActorCommands
  readonly service: ActService
  readonly jobs: Jobs
  readonly tools: ConsoleTools
  readonly now: () => number
  /** Whether operators can sign in at an OpenID provider. */
  readonly hasOidc: boolean
  /** Origin of the page, such as `http://127.0.0.1:4747`. */
  readonly origin: string
}

/** The parts of the service that acts use. */
export type ActService = Pick<
  Service,
  'queries' | 'indexers' | 'integrations' | 'actingAs' | 'operatorSessions' | 'identity' | 'audit'
>

/** A page to go to, with a note on it; or a page that is shown once, such as one with a new secret. */
export type ActAnswer =
  | { readonly to: string; readonly note?: Note }
  | { readonly show: PageContent; readonly status?: number }

/** An act: a posted form at `/console/act/<name>`. An error of the core is shown with its message. */
export interface Act {
  readonly needs: Role
  run(input: ActInput): Promise<ActAnswer>
}

/** The result of an act in a sentence. The URL holds its name alone, so that a link cannot put words onto a page. */
export type Note = keyof typeof notes

const notes = {
  replayed: 'The delivery is due now. It is marked as a replay in its attempts.',
  'signed-out': 'You are signed out.',
  joined: 'Your passphrase is set. Sign in with it.',
  ...adminNotes,
} as const

/** The sentence of a URL's parameter `note`; null: there is none. */
export const noteOf = (given: string | null): string | null =>
  given !== null && Object.hasOwn(notes, given) ? notes[given as Note] : null
