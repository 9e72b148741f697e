/** Sessions of integrations at the portal; times are unix milliseconds. Source: docs/decisions/portal.md. @module */
import type { IntegrationRecord } from './integration.js'

export interface IntegrationSessionRecord {
  /** SHA-256 of its token, 64 lowercase hex digits. */
  readonly hash: string
  /** Lowercased. */
  readonly integrationAddress: string
  /** The stored hash of the API secret that opened it: the session ends with that secret. */
  readonly apiSecretHash: string
  readonly createdAt: number
  /** From then on it is expired. */
  readonly expiresAt: number
}

export interface IntegrationSessionStore {
  /** A session with its integration as it is now, expired or not. */
  find(
    hash: string,
  ): Promise<{ readonly session: IntegrationSessionRecord; readonly integration: IntegrationRecord } | null>
}

export interface IntegrationSessionTransaction {
  /** Stores a session. The transaction rejects if the hash is taken or the integration is unknown. */
  insert(session: IntegrationSessionRecord): Promise<void>
  /** Deletes a session. Resolves it, or null when there is none. */
  delete(hash: string): Promise<IntegrationSessionRecord | null>
  /** Deletes all sessions of an integration. Resolves their number. */
  deleteOf(integrationAddress: string): Promise<number>
  /** Deletes all but the newest `count` sessions of an integration. */
  keepNewest(integrationAddress: string, count: number): Promise<void>
  deleteExpired(now: number): Promise<void>
}

export interface SignedInIntegration {
  /** Lowercased. */
  readonly integrationAddress: string
}

/** A new session of an integration. `sessionToken` is shown this once. */
export interface NewIntegrationSession extends SignedInIntegration {
  readonly sessionToken: string
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
