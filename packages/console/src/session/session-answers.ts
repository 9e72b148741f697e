/** Answers that open and end sessions, for operators and for integrations. @module */
import { SignInLimitedError, SignInRejectedError } from '@payment-integration/core/operators'
import type { PageContent } from '../page-types.js'
import type { SessionCookie } from '../web/cookie.js'
import { readForm } from '../web/form-body.js'
import type { Render } from '../web/render.js'

/** Dependencies of the answers. */
export interface SessionAnswersDeps {
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
