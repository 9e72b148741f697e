/** Names who looks at a page, and what that person may do. @module */

/** What a person may do: read, act on deliveries and chains, or everything. */
export type Role = 'viewer' | 'operator' | 'admin'

/** The person behind a request. */
export interface Viewer {
  /** Shown on each page, and recorded with each act. */
  readonly name: string
  readonly role: Role
}

/** The person of a page without sign-in: whoever uses this machine. */
export const localViewer: Viewer = { name: 'this machine', role: 'admin' }
