/** Signs operators in and out, and sets passphrases by one-time links. Source: docs/decisions/operators.md. @module */
import { LinkRejectedError, operatorActor, PassphraseError, SignInLimitedError } from '@payment-integration/core'
import type { OperatorSessions } from '@payment-integration/core/internal'
import type { Clock } from '@payment-integration/core/ports'
import { findNote, type PageContent } from '../pages/page.js'
import type { Render } from '../view/layout.js'
import { base, Problem } from '../view/parts.js'
import { createVisit, type Visit } from '../viewer.js'
import type { ConsoleBindings } from '../web/guard.js'
import { parseForm } from '../web/run-form.js'
import { createSessionCookie, createSignInPages, seeOther } from '../web/sessions.js'
import { createOidcSignIn, issuerHost, type OidcOptions } from './oidc.js'

/** How operators sign in. */
export interface SignInOptions {
  /** The origin of the pages, such as `https://pay.example`. Other hosts and origins are answered 403. */
  readonly publicUrl: string
  /** The caller's network address, for the limits of failed sign-ins: docs/decisions/operators.md. */
  readonly findSource: (request: Request, bindings: ConsoleBindings) => string
  /** Lets operators also sign in at an OpenID provider. @default passphrases only */
  readonly oidc?: OidcOptions | undefined
}

interface SignInDeps extends SignInOptions {
  readonly sessions: OperatorSessions
  readonly render: Render
  readonly clock: Pick<Clock, 'now'>
  readonly onError: (error: unknown) => void
}

const cookie = createSessionCookie('pi_console')

export function createSignIn(deps: SignInDeps) {
  const { sessions, render } = deps
  const oidcHost = deps.oidc === undefined ? null : issuerHost(deps.oidc)
  const buildPage = (next: string, problem: string | null) => signInPage(next, problem, oidcHost)
  const pages = createSignInPages({ ...deps, mountedAt: base, cookie, buildPage, findNote }, (form, source) =>
    sessions.signIn({ name: form.get('name') ?? '', passphrase: form.get('passphrase') ?? '', source }),
  )
  const oidc =
    deps.oidc && createOidcSignIn({ ...deps, options: deps.oidc, buildPage, issueSessionCookie: pages.issueCookie })

  async function join(request: Request): Promise<Response> {
    const form = await parseForm(request)
    const [linkToken = '', passphrase = ''] = [form.get('link')?.trim(), form.get('passphrase')]
    const rejected = (problem: string, status: number) => render(joinPage(problem), { visit: null, status })
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
    async findVisit(request: Request): Promise<Visit | null> {
      const token = cookie.read(request.headers)
      const viewer = token === null ? null : await sessions.authenticate(token)
      if (token === null || viewer === null) return null
      return createVisit(sessions, { viewer, actor: operatorActor(viewer.name), secret: token, canSignOut: true })
    },
    /** Answers the paths that need no session; null for any other path. */
    answer(request: Request, path: string, bindings: ConsoleBindings): Promise<Response> | null {
      if (path === '/join') return request.method === 'POST' ? join(request) : render(joinPage(null), { visit: null })
      return pages.answer(request, path, bindings) ?? oidc?.answer(request, path, bindings) ?? null
    },
    redirect: pages.redirect,
  }
}

/** The page with the form for name and passphrase, and the link to the OpenID provider, if any. */
function signInPage(next: string, problem: string | null, oidcHost: string | null): PageContent {
  const body = (
    <section class="sign-in">
      <h1>Sign in</h1>
      <Problem text={problem} />
      {oidcHost === null ? null : (
        <p>
          <a class="elsewhere" href={`${base}/oidc/start?${new URLSearchParams({ next })}`}>
            Sign in with {oidcHost}
          </a>
        </p>
      )}
      <form method="post" action={`${base}/sign-in`}>
        <input type="hidden" name="next" value={next} />
        <label for="name">Name</label>
        <input id="name" name="name" autocomplete="username" autocapitalize="none" spellcheck={false} required />
        <label for="passphrase">Passphrase</label>
        <input id="passphrase" name="passphrase" type="password" autocomplete="current-password" required />
        <button type="submit">Sign in</button>
      </form>
      <p class="dim">
        No passphrase yet? Ask an admin for a one-time link, made on the page Operators or by{' '}
        <code>payment-integration operators create</code>.
      </p>
    </section>
  )
  return { title: 'Sign in', section: '-', body }
}

/** The form for a new passphrase. The script copies the one-time token from the URL's fragment into a field. */
function joinPage(problem: string | null): PageContent {
  const body = (
    <section class="sign-in">
      <h1>Choose a passphrase</h1>
      <Problem text={problem} />
      <form method="post" action={`${base}/join`}>
        <label for="link">Token of the one-time link, the part after #</label>
        <input id="link" name="link" autocomplete="off" spellcheck={false} required data-link />
        <label for="passphrase">New passphrase, 12 to 256 characters</label>
        <input
          id="passphrase"
          name="passphrase"
          type="password"
          autocomplete="new-password"
          minlength={12}
          maxlength={256}
          required
        />
        <label for="again">The passphrase again</label>
        <input id="again" name="again" type="password" autocomplete="new-password" required />
        <button type="submit">Set the passphrase</button>
      </form>
    </section>
  )
  return { title: 'Choose a passphrase', section: '-', body }
}
