/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Signs operators in at an OpenID provider. Source: docs/decisions/operators.md. @module */
import type { NewSession, OperatorSessions } from '@payment-integration/core'
import { OidcRejectedError } from '@payment-integration/core/operators'
import type { PageContent } from '../page-types.js'
import { base } from '../view/parts.js'
import type { ConsoleBindings } from '../web/access.js'
import { sessionCookie } from '../web/cookie.js'
import { localPath } from '../web/local-path.js'
import type { OidcOptions } from './options.js'
import { createOidcProvider, type FlowSecrets, OidcNameError } from './provider.js'

/** Dependencies of the sign-in. */
export interface OidcSignInDeps {
  readonly options: OidcOptions
  /** The origin of the pages. */
  readonly publicUrl: string
  readonly sessions: Pick<OperatorSessions, 'sealSignIn' | 'openSignIn' | 'signInProved'>
  readonly sourceOf: (request: Request, bindings: ConsoleBindings) => string
  readonly now: () => number
  /** Shows the sign-in page with a problem. */
  readonly rejected: (problem: string, status: number, next: string) => Promise<Response>
  readonly renderPage: (content: PageContent) => Promise<Response>
  /** The value of Set-Cookie for a new session. */
  readonly sessionCookieOf: (opened: NewSession) => string
  readonly onError: (error: unknown) => void
}

/** Answers the two paths of this way to sign in. */
export interface OidcSignIn {
  /** Answers `/oidc/start` and `/oidc/callback`; null: the path is another one. */
  answer(request: Request, path: string, bindings: ConsoleBindings): Promise<Response> | null
}

/** A sign-in in progress, as the cookie holds it. */
interface Pending extends FlowSecrets {
  readonly next: string
  readonly expiresAt: number
}

/** How long a person may take at the provider, in milliseconds. */
const pendingMs = 10 * 60_000

// The provider's site sends the browser back, so the cookie must come along with a request of another site.
const cookie = sessionCookie('pi_console_oidc', 'Lax')

/** Host and port of the provider, for people. */
export const issuerHost = ({ issuer }: OidcOptions): string => new URL(issuer).host

/** Creates the sign-in of one console at one provider. */
export function createOidcSignIn(deps: OidcSignInDeps): OidcSignIn {
  const { options, publicUrl, sessions, sourceOf, now, rejected, onError } = deps
  const provider = createOidcProvider(options)
  const host = issuerHost(options)

  async function start(request: Request): Promise<Response> {
    const next = localPath(new URL(request.url).searchParams.get('next'), base)
    try {
      const { location, secrets } = await provider.begin(`${publicUrl}${base}/oidc/callback`)
      const pending: Pending = { ...secrets, next, expiresAt: now() + pendingMs }
      const sealed = sessions.sealSignIn(JSON.stringify(pending))
      return new Response(null, {
        status: 303,
        headers: { Location: location, 'Set-Cookie': cookie.issue(sealed, pendingMs) },
      })
    } catch (error) {
      onError(error)
      return rejected(`${host} does not answer. Try again; the log of the service has the reason.`, 502, next)
    }
  }

  async function finish(request: Request, bindings: ConsoleBindings): Promise<Response> {
    const pending = pendingOf(request)
    if (pending === null)
      return rejected('This sign-in took too long, or began in another browser. Begin again.', 400, base)
    const { pathname, search } = new URL(request.url)
    const { next } = pending
    try {
      const name = await provider.nameOf(new URL(`${publicUrl}${pathname}${search}`), pending)
      const source = sourceOf(request, bindings)
      return await welcome(next, await sessions.signInProved({ name, source, issuer: options.issuer }))
    } catch (error) {
      const isForPeople = error instanceof OidcNameError || error instanceof OidcRejectedError
      if (!isForPeople) onError(error)
      const problem = isForPeople ? error.message : `The sign-in at ${host} failed. Begin again.`
      const answer = await rejected(problem, isForPeople ? 403 : 400, next)
      answer.headers.append('Set-Cookie', cookie.clear())
      return answer
    }
  }

  function pendingOf({ headers }: Request): Pending | null {
    const sealed = cookie.read(headers)
    const text = sealed === null ? null : sessions.openSignIn(sealed)
    const pending: Pending | null = text === null ? null : JSON.parse(text)
    return pending !== null && now() < pending.expiresAt ? pending : null
  }

  /** The session's cookie is for requests of these pages alone: the next one must come from here, by no redirect. */
  async function welcome(next: string, opened: NewSession): Promise<Response> {
    const body = (
      <section class="sign-in">
        <h1>Signed in</h1>
        <p>
          <a href={next}>Go on as {opened.operator.name}</a>
        </p>
      </section>
    )
    const answer = await deps.renderPage({ title: 'Signed in', section: '-', body })
    answer.headers.set('Refresh', `0; url=${next}`)
    answer.headers.append('Set-Cookie', deps.sessionCookieOf(opened))
    answer.headers.append('Set-Cookie', cookie.clear())
    return answer
  }

  return {
    answer(request, path, bindings) {
      if (request.method !== 'GET') return null
      if (path === '/oidc/start') return start(request)
      return path === '/oidc/callback' ? finish(request, bindings) : null
    },
  }
}
