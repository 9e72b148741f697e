/** The cookie of a session, and the pages that open and end sessions. @module */
import { SignInLimitedError, SignInRejectedError } from '@payment-integration/core'
import type { NewSession, OperatorSessions } from '@payment-integration/core/internal'
import type { Clock } from '@payment-integration/core/ports'
import type { PageContent } from '../pages/page.js'
import type { Render } from '../view/layout.js'
import { type ConsoleBindings, parseLocalPath } from './guard.js'
import { parseForm } from './run-form.js'

/**
 * Builds a cookie that only this host can set, over TLS or at a loopback address. Requests from other sites do not
 * carry it.
 * @param name - Without the prefix `__Host-`, such as `pi_console`.
 * @param sameSite - `Lax`: requests by a link on another site carry the cookie too. @default Strict
 */
export function createSessionCookie(name: string, sameSite: 'Strict' | 'Lax' = 'Strict') {
  const fullName = `__Host-${name}`
  const attributes = `Path=/; Secure; HttpOnly; SameSite=${sameSite}`
  return {
    read(headers: Headers): string | null {
      for (const pair of (headers.get('cookie') ?? '').split(';')) {
        const [key, value] = pair.trim().split('=', 2)
        if (key === fullName && value !== undefined && value !== '') return value
      }
      return null
    },
    issue: (token: string, maxAgeMs: number) =>
      `${fullName}=${token}; ${attributes}; Max-Age=${Math.floor(maxAgeMs / 1_000)}`,
    clear: () => `${fullName}=; ${attributes}; Max-Age=0`,
  }
}

interface SignInPagesDeps {
  readonly mountedAt: string
  readonly cookie: ReturnType<typeof createSessionCookie>
  readonly sessions: Pick<OperatorSessions, 'signOut' | 'isCsrfToken'>
  readonly render: Render
  readonly clock: Pick<Clock, 'now'>
  readonly findSource: (request: Request, bindings: ConsoleBindings) => string
  buildPage(next: string, problem: string | null): PageContent
  readonly findNote: (name: string | null) => string | null
}

type OpenedSession = Pick<NewSession, 'sessionToken' | 'expiresAt'>

/** Creates the pages that open and end sessions. @param open - May throw SignInRejectedError or SignInLimitedError. */
export function createSignInPages(
  { mountedAt, cookie, sessions, render, clock, ...deps }: SignInPagesDeps,
  open: (form: ReadonlyMap<string, string>, source: string) => Promise<OpenedSession>,
) {
  const issueCookie = ({ sessionToken, expiresAt }: OpenedSession) =>
    cookie.issue(sessionToken, expiresAt - clock.now())

  async function signIn(request: Request, bindings: ConsoleBindings): Promise<Response> {
    const form = await parseForm(request)
    const next = parseLocalPath(form.get('next'), mountedAt)
    try {
      return seeOther(next, issueCookie(await open(form, deps.findSource(request, bindings))))
    } catch (error) {
      const isLimited = error instanceof SignInLimitedError
      if (!isLimited && !(error instanceof SignInRejectedError)) throw error
      const answer = await render(deps.buildPage(next, error.message), { visit: null, status: isLimited ? 429 : 401 })
      if (isLimited) answer.headers.set('Retry-After', String(error.retryAfterSeconds))
      return answer
    }
  }

  /** Ends the session, if the form carries the session's CSRF token. */
  async function signOut(request: Request): Promise<Response> {
    const token = cookie.read(request.headers)
    const csrf = (await parseForm(request)).get('csrf') ?? ''
    if (token === null || !sessions.isCsrfToken(token, csrf)) return seeOther(mountedAt)
    await sessions.signOut(token)
    const answer = seeOther(`${mountedAt}/sign-in?note=signed-out`, cookie.clear())
    // After sign-out, the back button must not show cached pages.
    answer.headers.set('Clear-Site-Data', '"cache"')
    return answer
  }

  return {
    issueCookie,
    /** Answers `/sign-in` and `/sign-out`; null for any other path. */
    answer(request: Request, path: string, bindings: ConsoleBindings): Promise<Response> | null {
      const isPost = request.method === 'POST'
      if (path === '/sign-out' && isPost) return signOut(request)
      if (path !== '/sign-in') return null
      if (isPost) return signIn(request, bindings)
      const { searchParams } = new URL(request.url)
      const next = parseLocalPath(searchParams.get('next'), mountedAt)
      return render(deps.buildPage(next, null), { visit: null, note: deps.findNote(searchParams.get('note')) })
    },
    /** Redirects a browser without a session to the sign-in page, which leads back after the sign-in. */
    redirect({ url }: Request): Response {
      const { pathname, search } = new URL(url)
      return seeOther(`${mountedAt}/sign-in?${new URLSearchParams({ next: `${pathname}${search}` })}`)
    },
  }
}

export function seeOther(location: string, setCookie?: string): Response {
  const headers = new Headers({ Location: location })
  if (setCookie !== undefined) headers.set('Set-Cookie', setCookie)
  return new Response(null, { status: 303, headers })
}
