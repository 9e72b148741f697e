/** Types of a page's viewer and of the roles, and what each role may do. @module */
import type { OperatorSessions } from '@payment-integration/core/internal'

/** The rights of a person: read, act on deliveries and chains, or everything. */
export type Role = 'viewer' | 'operator' | 'admin'

/** The person behind a request. */
export interface Viewer {
  /** Shown on each page, and recorded with each act. */
  readonly name: string
  readonly role: Role
}

/** A viewer's request. */
export interface Visit {
  readonly viewer: Viewer
  /** The actor in the audit log, such as `operator:alice`. */
  readonly actor: string
  /** The token that each form of this viewer carries. */
  readonly csrfToken: string
  isCsrfToken(token: string): boolean
  /** Whether there is a session to sign out of. */
  readonly canSignOut: boolean
  /** The tooltip of the viewer's name. @default the role */
  readonly about?: string | undefined
}

/** The viewer of pages without sign-in: anybody who uses this machine. */
export const localViewer: Viewer = { name: 'this machine', role: 'admin' }

const ranks: Readonly<Record<Role, number>> = { viewer: 0, operator: 1, admin: 2 }

export const isAllowed = (role: Role, needed: Role): boolean => ranks[role] >= ranks[needed]

/** Creates a visit. @param secret - The CSRF token is derived from this: a session token, or the actor. */
export function createVisit(
  sessions: Pick<OperatorSessions, 'csrfToken' | 'isCsrfToken'>,
  { secret, ...rest }: Omit<Visit, 'csrfToken' | 'isCsrfToken'> & { readonly secret: string },
): Visit {
  return {
    ...rest,
    csrfToken: sessions.csrfToken(secret),
    isCsrfToken: (token) => sessions.isCsrfToken(secret, token),
  }
}
