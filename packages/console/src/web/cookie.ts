/** The cookie of a session. @module */

/**
 * A cookie that only this host can set and only over TLS; browsers also take it from a loopback address. No request of
 * another site carries it.
 */
export interface SessionCookie {
  /** The session token of a request; null: it has none. */
  read(headers: Headers): string | null
  /** The value of Set-Cookie for a new session. */
  issue(token: string, maxAgeMs: number): string
  /** The value of Set-Cookie that ends it. */
  clear(): string
}

/** Builds the cookie. @param name - Without the prefix `__Host-`, such as `pi_console`. */
export function sessionCookie(name: string): SessionCookie {
  const full = `__Host-${name}`
  const attributes = 'Path=/; Secure; HttpOnly; SameSite=Strict'
  return {
    read(headers) {
      for (const pair of (headers.get('cookie') ?? '').split(';')) {
        const [key, value] = pair.trim().split('=', 2)
        if (key === full && value !== undefined && value !== '') return value
      }
      return null
    },
    issue: (token, maxAgeMs) => `${full}=${token}; ${attributes}; Max-Age=${Math.floor(maxAgeMs / 1_000)}`,
    clear: () => `${full}=; ${attributes}; Max-Age=0`,
  }
}
