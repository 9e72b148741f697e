/** Signs operators in and out: the cookie of a session, and the forms of those who have none. @module */
import type { OperatorSessions } from '@payment-integration/core'
import {
  LinkRejectedError,
  operatorActor,
  PassphraseError,
  SignInLimitedError,
} from '@payment-integration/core/operators'
import { noteOf } from '../acts/act.js'
import { createOidcSignIn, issuerHost } from '../oidc/oidc-sign-in.js'
import type { OidcOptions } from '../oidc/options.js'
import { base } from '../view/parts.js'
import { type Visit, visitOf } from '../viewer.js'
import type { ConsoleBindings } from '../web/access.js'
import { sessionCookie } from '../web/cookie.js'
import { readForm } from '../web/form-body.js'
import { localPath } from '../web/local-path.js'
import type { Render } from '../web/render.js'
import { createSessionAnswers, seeOther } from './session-answers.js'
import { joinPage, signInPage } from './sign-in-pages.js'

/** How operators sign in. */
export interface SignInOptions {
  /** The origin of the pages, such as `https://pay.example`. Other hosts and origins are answered 403. */
  readonly publicUrl: string
  /** The caller's network address, for the limits of failed sign-ins: docs/decisions/operators.md. */
  readonly sourceOf: (request: Request, bindings: ConsoleBindings) => string
  /** Operators may also sign in at an OpenID provider. @default with passphrases alone */
  readonly oidc?: OidcOptions | undefined
}

/** Dependencies of signing in. */
export interface SignInDeps extends SignInOptions {
  readonly sessions: OperatorSessions
  readonly render: Render
  readonly now: () => number
  readonly onError: (error: unknown) => void
}

/** Signs operators in. */
export interface SignIn {
  /** The visit of a request with a session; null: it has none. */
  visitOf(request: Request): Promise<Visit | null>
  /** Answers the paths of people without a session; null: the path is another one. */
  answer(request: Request, path: string, bindings: ConsoleBindings): Promise<Response> | null
  /** Sends a browser without a session to the sign-in page, from where it comes back. */
  ask(request: Request): Response
}

const cookie = sessionCookie('pi_console')

/** Creates the sign-in of operators with passphrases. */
export function createSignIn(deps: SignInDeps): SignIn {
  const { sessions, render, sourceOf, now } = deps
  const visit = null
  const answers = createSessionAnswers({ mountedAt: base, cookie, sessions, render, now })
  const oidcHost = deps.oidc === undefined ? null : issuerHost(deps.oidc)
  const pageOf = (next: string, problem: string | null = null) => signInPage({ next, problem, oidcHost })
  const oidc =
    deps.oidc &&
    createOidcSignIn({
      ...deps,
      options: deps.oidc,
      rejected: (problem, status, next) => render(pageOf(next, problem), { visit, status }),
      renderPage: (content) => render(content, { visit }),
      sessionCookieOf: ({ sessionToken, expiresAt }) => cookie.issue(sessionToken, expiresAt - now()),
    })

  async function signIn(request: Request, bindings: ConsoleBindings): Promise<Response> {
    const form = await readForm(request)
    const next = localPath(form.get('next'), base)
    const [name = '', passphrase = ''] = [form.get('name'), form.get('passphrase')]
    try {
      const opened = await sessions.signIn({ name, passphrase, source: sourceOf(request, bindings) })
      return answers.opened(next, opened)
    } catch (error) {
      return answers.rejected(error, (problem) => pageOf(next, problem))
    }
  }

  async function join(request: Request): Promise<Response> {
    const form = await readForm(request)
    const [linkToken = '', passphrase = ''] = [form.get('link')?.trim(), form.get('passphrase')]
    const rejected = (problem: string, status: number) => render(joinPage({ problem }), { visit, status })
    if (passphrase !== form.get('again')) return rejected('The two passphrases differ.', 400)
    try {
      await sessions.redeemLink({ linkToken, passphrase })
      return seeOther(`${base}/sign-in?note=joined`)
    } catch (error) {
      if (error instanceof LinkRejectedError || error instanceof PassphraseError) return rejected(error.message, 400)
      if (error instanceof SignInLimitedError) return rejected(error.message, 429)
      throw error
    }
  }

  return {
    async visitOf(request) {
      const token = cookie.read(request.headers)
      const viewer = token === null ? null : await sessions.authenticate(token)
      if (token === null || viewer === null) return null
      return visitOf(sessions, { viewer, actor: operatorActor(viewer.name), secret: token, canSignOut: true })
    },
    answer(request, path, bindings) {
      const isPost = request.method === 'POST'
      if (path === '/sign-out' && isPost) return answers.signOut(request)
      if (path === '/join') return isPost ? join(request) : render(joinPage(), { visit })
      if (path !== '/sign-in') return oidc?.answer(request, path, bindings) ?? null
      if (isPost) return signIn(request, bindings)
      const { searchParams } = new URL(request.url)
      const note = noteOf(searchParams.get('note'))
      return render(pageOf(localPath(searchParams.get('next'), base)), { visit, note })
    },
    ask: answers.ask,
  }
}
