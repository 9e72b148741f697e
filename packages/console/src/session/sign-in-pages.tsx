/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The pages of people who are not signed in. @module */
import type { PageContent } from '../page-types.js'
import { base, Shown } from '../view/parts.js'

/** Content of the sign-in page. */
interface SignInFrame {
  /** The path to go to. */
  readonly next: string
  readonly problem: string | null
  /** Host of the OpenID provider; null: there is none. */
  readonly oidcHost: string | null
}

/** Asks for name and passphrase, or leads to the OpenID provider. */
export function signInPage({ next, problem, oidcHost }: SignInFrame): PageContent {
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
        Without a passphrase, ask an administrator for a one-time link:{' '}
        <code>payment-integration operators create</code>.
      </p>
    </section>
  )
  return { title: 'Sign in', section: '-', body }
}

/** Asks for a new passphrase. The script puts the link's token from the fragment of the address into its field. */
export function joinPage({ problem = null }: { problem?: string | null } = {}): PageContent {
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

function Problem({ text }: { text: string | null }) {
  return text === null ? null : (
    <p class="note bad" role="alert">
      <Shown text={text} most={400} />
    </p>
  )
}
