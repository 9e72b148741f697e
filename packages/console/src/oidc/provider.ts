/** Talks to the OpenID provider: discovery, the code flow with PKCE, and the name of the person. @module */
import { assertModestJson, readForeignBytes } from '@payment-integration/contract/parse'
import { loadPackage } from '@payment-integration/core'
import type { ClientAuth, Configuration, CustomFetch, IDToken, UserInfoResponse } from 'openid-client'
import type { OidcOptions } from './options.js'

/** Values of a sign-in in progress, remembered until the person comes back. */
export interface FlowSecrets {
  readonly state: string
  readonly nonce: string
  readonly codeVerifier: string
}

/** The provider, as the sign-in uses it. */
export interface OidcProvider {
  /** Starts a sign-in. Resolves where to send the browser, and what to remember. */
  begin(redirectUri: string): Promise<{ readonly location: string; readonly secrets: FlowSecrets }>
  /**
   * Redeems the code of the address that the browser came back to, and verifies the ID token.
   * @throws OidcNameError When the provider names nobody. @throws MissingPackageError Without `openid-client`. @throws
   * Error of `openid-client` for everything else.
   */
  nameOf(cameBackTo: URL, secrets: FlowSecrets): Promise<string>
}

/** The provider reported no name that can be trusted. Its message is for the person. */
export class OidcNameError extends Error {
  override readonly name = 'OidcNameError'
}

/** Longest wait for an answer of the provider, in seconds. */
const timeoutSeconds = 10
/** Most bytes of an answer: far above a large set of keys. */
const maxAnswerBytes = 256 * 1024

/** The library reads answers without bounds of its own. */
function boundAnswers(send: typeof fetch): CustomFetch {
  return async (url, options) => {
    const answer = await send(url, options as RequestInit)
    const bytes = await readForeignBytes(answer, maxAnswerBytes)
    assertModestJson(bytes)
    const { status, statusText, headers } = answer
    return new Response(answer.body === null ? null : bytes, { status, statusText, headers: [...headers] })
  }
}

/** Creates the client. The provider is asked for its addresses at the first sign-in. */
export function createOidcProvider(options: OidcOptions): OidcProvider {
  const { issuer, clientId, clientSecret, nameClaim } = options
  // It is loaded by the first sign-in: most processes never need it.
  const library = () => loadPackage('openid-client', 'signIn.oidc (PI_OIDC_ISSUER)', () => import('openid-client'))
  let found: Promise<Configuration> | null = null

  async function discover(): Promise<Configuration> {
    const { allowInsecureRequests, customFetch, discovery, enableNonRepudiationChecks, ...authentication } =
      await library()
    const { ClientSecretBasic, ClientSecretPost } = authentication
    const authenticate: ClientAuth = (server, client, body, headers) => {
      const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = server
      const by = methods.includes('client_secret_basic') ? ClientSecretBasic : ClientSecretPost
      by(clientSecret)(server, client, body, headers)
    }
    const url = new URL(issuer)
    const insecure = url.protocol === 'http:' ? [allowInsecureRequests] : []
    const execute = [enableNonRepudiationChecks, ...insecure]
    return discovery(url, clientId, undefined, authenticate, {
      execute,
      timeout: timeoutSeconds,
      [customFetch]: boundAnswers(options.fetch ?? fetch),
    })
  }

  /** A failed discovery is repeated by the next sign-in. */
  function configuration(): Promise<Configuration> {
    found ??= discover().catch((error: unknown) => {
      found = null
      throw error
    })
    return found
  }

  return {
    async begin(redirectUri) {
      const { buildAuthorizationUrl, calculatePKCECodeChallenge, ...random } = await library()
      const codeVerifier = random.randomPKCECodeVerifier()
      const secrets = { state: random.randomState(), nonce: random.randomNonce(), codeVerifier }
      const location = buildAuthorizationUrl(await configuration(), {
        redirect_uri: redirectUri,
        scope: nameClaim === 'email' ? 'openid email' : 'openid profile email',
        state: secrets.state,
        nonce: secrets.nonce,
        code_challenge: await calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
      })
      return { location: location.href, secrets }
    },
    async nameOf(cameBackTo, { state, nonce, codeVerifier }) {
      const { authorizationCodeGrant, fetchUserInfo } = await library()
      const provider = await configuration()
      const tokens = await authorizationCodeGrant(provider, cameBackTo, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: codeVerifier,
        idTokenExpected: true,
      })
      const claims = tokens.claims()
      if (claims === undefined) throw new Error('The provider sent no ID token.')
      const isElsewhere = claims[nameClaim] === undefined && provider.serverMetadata().userinfo_endpoint !== undefined
      return nameIn(isElsewhere ? await fetchUserInfo(provider, tokens.access_token, claims.sub) : claims, nameClaim)
    },
  }
}

/** An address that the provider has not verified may be anybody's. */
function nameIn(claims: IDToken | UserInfoResponse, nameClaim: string): string {
  const name = claims[nameClaim]
  if (typeof name !== 'string' || name === '')
    throw new OidcNameError(`The provider sent no claim ${JSON.stringify(nameClaim)}, so it names nobody.`)
  if (nameClaim === 'email' && claims['email_verified'] !== true)
    throw new OidcNameError('The provider has not verified your e-mail address. Verify it there, then sign in again.')
  return name
}
