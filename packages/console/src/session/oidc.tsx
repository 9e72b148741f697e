/** Signs operators in at an OpenID provider: the code flow with PKCE. Source: docs/decisions/operators.md. @module */
import { assertModestJson, readForeignBytes } from '@payment-integration/contract/internal-io'
import type { NewSession, OperatorSessions } from '@payment-integration/core/internal'
import { loadPackage, OidcRejectedError } from '@payment-integration/core/internal'
import type { Clock } from '@payment-integration/core/ports'
import type { ClientAuth, Configuration, CustomFetch, IDToken, UserInfoResponse } from 'openid-client'
import type { PageContent } from '../pages/page.js'
import type { Render } from '../view/layout.js'
import { base } from '../view/parts.js'
import { type ConsoleBindings, parseLocalPath } from '../web/guard.js'
import { createSessionCookie, seeOther } from '../web/sessions.js'

/** How the console signs operators in at an OpenID provider, as a confidential client with the code flow. */
export interface OidcOptions {
  /** The provider's issuer identifier, such as `https://id.example/realms/shop`. */
  readonly issuer: string
  /** The console's id at the provider. */
  readonly clientId: string
  /** Never logged or shown. */
  readonly clientSecret: string
  /** The claim that names the operator. If it is `email`, the provider must have verified the address. */
  readonly nameClaim: string
  /** Sends the requests to the provider. @default the runtime's `fetch` */
  readonly fetch?: typeof fetch | undefined
}

interface OidcSignInDeps {
  readonly options: OidcOptions
  readonly publicUrl: string
  readonly sessions: Pick<OperatorSessions, 'sealSignIn' | 'openSignIn' | 'signInProved'>
  readonly findSource: (request: Request, bindings: ConsoleBindings) => string
  readonly render: Render
  readonly clock: Pick<Clock, 'now'>
  readonly onError: (error: unknown) => void
  readonly buildPage: (next: string, problem: string) => PageContent
  readonly issueSessionCookie: (opened: NewSession) => string
}

/** A sign-in in progress, as the cookie holds it. */
interface Pending extends FlowSecrets {
  readonly next: string
  readonly expiresAt: number
}

const pendingMs = 10 * 60_000

// The provider redirects the browser back, so a request from another site must carry the cookie.
const cookie = createSessionCookie('pi_console_oidc', 'Lax')

export const issuerHost = ({ issuer }: OidcOptions): string => new URL(issuer).host

export function createOidcSignIn(deps: OidcSignInDeps) {
  const { options, publicUrl, sessions, findSource, render, clock, onError } = deps
  const provider = createOidcProvider(options)
  const host = issuerHost(options)

  const rejected = (problem: string, status: number, next: string) =>
    render(deps.buildPage(next, problem), { visit: null, status })

  async function start(request: Request): Promise<Response> {
    const next = parseLocalPath(new URL(request.url).searchParams.get('next'), base)
    try {
      const { location, secrets } = await provider.begin(`${publicUrl}${base}/oidc/callback`)
      const pending: Pending = { ...secrets, next, expiresAt: clock.now() + pendingMs }
      const sealed = sessions.sealSignIn(JSON.stringify(pending))
      return seeOther(location, cookie.issue(sealed, pendingMs))
    } catch (error) {
      onError(error)
      return rejected(`${host} does not answer. Try again; the log of the service has the reason.`, 502, next)
    }
  }

  async function finish(request: Request, bindings: ConsoleBindings): Promise<Response> {
    const pending = readPending(request)
    if (pending === null)
      return rejected('This sign-in took too long, or began in another browser. Begin again.', 400, base)
    const { pathname, search } = new URL(request.url)
    const { next } = pending
    try {
      const { name, problem } = await provider.findName(new URL(`${publicUrl}${pathname}${search}`), pending)
      if (problem !== undefined) return await answerProblem(problem, 403)
      const source = findSource(request, bindings)
      return await welcome(next, await sessions.signInProved({ name, source, issuer: options.issuer }))
    } catch (error) {
      if (error instanceof OidcRejectedError) return answerProblem(error.message, 403)
      onError(error)
      return answerProblem(`The sign-in at ${host} failed. Begin again.`, 400)
    }

    async function answerProblem(problem: string, status: number): Promise<Response> {
      const answer = await rejected(problem, status, next)
      answer.headers.append('Set-Cookie', cookie.clear())
      return answer
    }
  }

  function readPending({ headers }: Request): Pending | null {
    const sealed = cookie.read(headers)
    const text = sealed === null ? null : sessions.openSignIn(sealed)
    const pending: Pending | null = text === null ? null : JSON.parse(text)
    return pending !== null && clock.now() < pending.expiresAt ? pending : null
  }

  /** Continues by a page, not by a redirect: only requests that start at these pages carry the session cookie. */
  async function welcome(next: string, opened: NewSession): Promise<Response> {
    const body = (
      <section class="sign-in">
        <h1>Signed in</h1>
        <p>
          <a href={next}>Go on as {opened.operator.name}</a>
        </p>
      </section>
    )
    const answer = await render({ title: 'Signed in', section: '-', body }, { visit: null })
    answer.headers.set('Refresh', `0; url=${next}`)
    answer.headers.append('Set-Cookie', deps.issueSessionCookie(opened))
    answer.headers.append('Set-Cookie', cookie.clear())
    return answer
  }

  return {
    /** Answers `/oidc/start` and `/oidc/callback`; null for any other path. */
    answer(request: Request, path: string, bindings: ConsoleBindings): Promise<Response> | null {
      if (request.method !== 'GET') return null
      if (path === '/oidc/start') return start(request)
      return path === '/oidc/callback' ? finish(request, bindings) : null
    },
  }
}

interface FlowSecrets {
  readonly state: string
  readonly nonce: string
  readonly codeVerifier: string
}

/** The operator's name; or, for the person who signs in, why the provider reported none that can be trusted. */
type FoundName =
  | { readonly name: string; readonly problem?: undefined }
  | { readonly name?: undefined; readonly problem: string }

const timeoutSeconds = 10
/** The most bytes of a provider's answer, far above a large set of keys. */
const maxAnswerBytes = 256 * 1024

/** Limits the size of answers, because the library does not. */
function limitAnswers(send: typeof fetch): CustomFetch {
  return async (url, options) => {
    const answer = await send(url, options as RequestInit)
    const bytes = await readForeignBytes(answer, maxAnswerBytes)
    assertModestJson(bytes)
    const { status, statusText, headers } = answer
    return new Response(answer.body === null ? null : bytes, { status, statusText, headers: [...headers] })
  }
}

/** Creates the client. The first sign-in discovers the provider's endpoints. */
function createOidcProvider(options: OidcOptions) {
  const { issuer, clientId, clientSecret, nameClaim } = options
  // The first sign-in loads the library: most processes never need it.
  const loadLibrary = () => loadPackage('openid-client', 'signIn.oidc (PI_OIDC_ISSUER)', () => import('openid-client'))
  let discovered: Promise<Configuration> | null = null

  async function discover(): Promise<Configuration> {
    const { allowInsecureRequests, customFetch, discovery, enableNonRepudiationChecks, ...authentication } =
      await loadLibrary()
    const { ClientSecretBasic, ClientSecretPost } = authentication
    const authenticate: ClientAuth = (server, client, body, headers) => {
      const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = server
      const method = methods.includes('client_secret_basic') ? ClientSecretBasic : ClientSecretPost
      method(clientSecret)(server, client, body, headers)
    }
    const url = new URL(issuer)
    const execute = [enableNonRepudiationChecks, ...(url.protocol === 'http:' ? [allowInsecureRequests] : [])]
    return discovery(url, clientId, undefined, authenticate, {
      execute,
      timeout: timeoutSeconds,
      [customFetch]: limitAnswers(options.fetch ?? fetch),
    })
  }

  /** Discovers the provider once. After a failure, the next sign-in tries again. */
  function getConfiguration(): Promise<Configuration> {
    discovered ??= discover().catch((error: unknown) => {
      discovered = null
      throw error
    })
    return discovered
  }

  return {
    async begin(redirectUri: string) {
      const { buildAuthorizationUrl, calculatePKCECodeChallenge, ...random } = await loadLibrary()
      const codeVerifier = random.randomPKCECodeVerifier()
      const secrets = { state: random.randomState(), nonce: random.randomNonce(), codeVerifier }
      const location = buildAuthorizationUrl(await getConfiguration(), {
        redirect_uri: redirectUri,
        scope: nameClaim === 'email' ? 'openid email' : 'openid profile email',
        state: secrets.state,
        nonce: secrets.nonce,
        code_challenge: await calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
      })
      return { location: location.href, secrets }
    },
    /**
     * Redeems the authorization code of the callback URL, and verifies the ID token.
     * @throws MissingPackageError, and for any other failure the errors of `openid-client`.
     */
    async findName(callbackUrl: URL, { state, nonce, codeVerifier }: FlowSecrets): Promise<FoundName> {
      const { authorizationCodeGrant, fetchUserInfo } = await loadLibrary()
      const provider = await getConfiguration()
      const tokens = await authorizationCodeGrant(provider, callbackUrl, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: codeVerifier,
        idTokenExpected: true,
      })
      const claims = tokens.claims()
      if (claims === undefined) throw new Error('The provider sent no ID token.')
      const isInUserInfo = claims[nameClaim] === undefined && provider.serverMetadata().userinfo_endpoint !== undefined
      return readName(isInUserInfo ? await fetchUserInfo(provider, tokens.access_token, claims.sub) : claims, nameClaim)
    },
  }
}

/** Reads the operator's name. An e-mail address that the provider has not verified may belong to somebody else. */
function readName(claims: IDToken | UserInfoResponse, nameClaim: string): FoundName {
  const name = claims[nameClaim]
  if (typeof name !== 'string' || name === '')
    return { problem: `The provider sent no claim ${JSON.stringify(nameClaim)}, so it names nobody.` }
  if (nameClaim === 'email' && claims['email_verified'] !== true)
    return { problem: 'The provider has not verified your e-mail address. Verify it there, then sign in again.' }
  return { name }
}
