/** The cookie of a session, and the answers that open and end sessions. @module */
import { SignInLimitedError, SignInRejectedError } from '@payment-integration/core/operators'
import type { PageContent } from '../pages/page.js'
import type { Render } from '../view/layout.js'
import { readForm } from './run-form.js'

/**
 * A cookie that only this host can set and only over TLS; browsers also take it from a loopback address. No request of
 * another site carries it.
 */
interface SessionCookie {
  /** The session token of a request; null: it has none. */
  read(headers: Headers): string | null
  /** The value of Set-Cookie for a new session. */
  issue(token: string, maxAgeMs: number): string
  /** The value of Set-Cookie that ends it. */
  clear(): string
}

/**
 * Builds the cookie.
 * @param name - Without the prefix `__Host-`, such as `pi_console`.
 * @param sameSite - `Lax`: a link of another site carries it, too. @default Strict
 */
export function sessionCookie(name: string, sameSite: 'Strict' | 'Lax' = 'Strict'): SessionCookie {
  const full = `__Host-${name}`
  const attributes = `Path=/; Secure; HttpOnly; SameSite=${sameSite}`
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

/** Dependencies of the answers. */
interface SessionAnswersDeps {
  /** Where the pages are mounted. */
  readonly mountedAt: string
  readonly cookie: SessionCookie
  readonly sessions: {
    signOut(sessionToken: string): Promise<void>
    isCsrfToken(sessionToken: string, csrfToken: string): boolean
  }
  readonly render: Render
  readonly now: () => number
}

/** Creates the answers for one set of pages and its cookie. */
export function createSessionAnswers({ mountedAt, cookie, sessions, render, now }: SessionAnswersDeps) {
  return {
    /** Leads to a page with the cookie of a new session. */
    opened(next: string, session: { readonly sessionToken: string; readonly expiresAt: number }): Response {
      return seeOther(next, cookie.issue(session.sessionToken, session.expiresAt - now()))
    },
    /** The sign-in page with the reason of a rejection. Rejects with any other error. */
    async rejected(error: unknown, pageOf: (problem: string) => PageContent): Promise<Response> {
      const isLimited = error instanceof SignInLimitedError
      if (!isLimited && !(error instanceof SignInRejectedError)) throw error
      const answer = await render(pageOf(error.message), { visit: null, status: isLimited ? 429 : 401 })
      if (isLimited) answer.headers.set('Retry-After', String(error.retryAfterSeconds))
      return answer
    },
    /** Ends the session of a form with its CSRF token; without the token nothing ends. */
    async signOut(request: Request): Promise<Response> {
      const token = cookie.read(request.headers)
      const csrf = (await readForm(request)).get('csrf') ?? ''
      if (token === null || !sessions.isCsrfToken(token, csrf)) return seeOther(mountedAt)
      await sessions.signOut(token)
      const answer = seeOther(`${mountedAt}/sign-in?note=signed-out`, cookie.clear())
      // What the browser kept of pages must not come back with its back button.
      answer.headers.set('Clear-Site-Data', '"cache"')
      return answer
    },
    /** Sends a browser without a session to the sign-in page, from where it comes back. */
    ask({ url }: Request): Response {
      const { pathname, search } = new URL(url)
      return seeOther(`${mountedAt}/sign-in?${new URLSearchParams({ next: `${pathname}${search}` })}`)
    },
  }
}

/** Leads a browser to another page by GET. */
export function seeOther(location: string, setCookie?: string): Response {
  const headers = new Headers({ Location: location })
  if (setCookie !== undefined) headers.set('Set-Cookie', setCookie)
  return new Response(null, { status: 303, headers })
}
