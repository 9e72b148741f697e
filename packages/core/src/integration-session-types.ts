/** The types of integrations' sessions at the portal, for a host. Source: docs/decisions/portal.md. @module */

/** The integration of a session. */
export interface SignedInIntegration {
  /** Lowercased. */
  readonly integrationAddress: string
}

/** A new session of an integration. `sessionToken` is shown this once. */
export interface NewIntegrationSession extends SignedInIntegration {
  readonly sessionToken: string
  /** Unix milliseconds. */
  readonly expiresAt: number
}

/** Signs integrations in and out, with their address and API secret. Source: docs/decisions/portal.md. */
export interface IntegrationSessions {
  /**
   * Opens a session of 12 hours. It ends earlier when the integration is disabled, or when the API secret that
   * opened it is no longer valid. It also ends when it is the oldest of 20 and a further one is opened. An unknown
   * address, a
   * wrong secret and a disabled integration have the same answer after the same work.
   * @param input.source - The caller's network address; of IPv6 the first 64 bits. Failures are limited per source, and
   * per address and source.
   * @param input.countCall - Counts the call of an integration with valid credentials, before a session is opened.
   * Returns the milliseconds that it has to wait; 0: none. Default: none is limited.
   * @throws SignInRejectedError `ERR_SIGN_IN_REJECTED`; SignInLimitedError `ERR_SIGN_IN_LIMITED` with the wait.
   */
  signIn(input: {
    readonly address: string
    readonly apiSecret: string
    readonly source: string
    readonly countCall?: ((integrationAddress: string) => number) | undefined
  }): Promise<NewIntegrationSession>
  /** The integration of a session; null: it is unknown, signed out, expired or ended. */
  authenticate(sessionToken: string): Promise<SignedInIntegration | null>
  /** Ends a session. An unknown one is no error. */
  signOut(sessionToken: string): Promise<void>
  /** The token for the forms of a session. */
  csrfToken(sessionToken: string): string
  /** Whether the token of a form belongs to the session. */
  isCsrfToken(sessionToken: string, csrfToken: string): boolean
}
