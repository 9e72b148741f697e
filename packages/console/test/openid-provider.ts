/** A real OpenID provider on a real port, at which one person is always signed in. @module */
import { generateKeyPairSync } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { vi } from 'vitest'

/** The claims of a person, as the provider reports them. */
export type Claims = Readonly<Record<string, unknown>>

/** Values that the provider passes when it looks for a person's consent. */
interface GrantContext {
  readonly oidc: {
    readonly provider: { Grant: new (given: object) => { addOIDCScope(scope: string): void; save(): Promise<string> } }
    readonly client: { readonly clientId: string }
    readonly session: { readonly accountId: string }
    readonly requestParamScopes: ReadonlySet<string>
  }
}

/** Answers a request in place of the provider, or returns false. */
type Replacement = (request: IncomingMessage, response: ServerResponse) => boolean

/** Loads the provider without its warning of Node 20. */
async function loadProvider() {
  const warning = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  const { default: Provider } = await import('oidc-provider')
  warning.mockRestore()
  const { createMemoryAdapter } = await import('oidc-provider/lib/adapters/memory_adapter.js')
  return { Provider, createMemoryAdapter }
}

const signingKey = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey.export({ format: 'jwk' })

/** The provider's client in these tests. */
export const oidcClient = { clientId: 'console', clientSecret: 'canary-of-a-client-secret' } as const

/** Opens it. @param redirectUris - Where it may send people back to. */
export async function openOpenidProvider(redirectUris: readonly string[], isWithUserInfoAlone = false) {
  let claims: Claims = {}
  let isDown = false
  let replaced: Replacement = () => false
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { Provider, createMemoryAdapter } = await loadProvider()
  const client = {
    client_id: oidcClient.clientId,
    client_secret: oidcClient.clientSecret,
    redirect_uris: redirectUris,
    response_types: ['code'],
    grant_types: ['authorization_code'],
  }
  // The provider warns of every default that is meant for trying it out.
  const provider = new Provider(issuer, {
    adapter: createMemoryAdapter(0),
    jwks: { keys: [signingKey] },
    ttl: { AccessToken: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    clients: [client],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['preferred_username'] },
    conformIdTokenClaims: isWithUserInfoAlone,
    cookies: { keys: ['a-key-of-the-tests'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_: unknown, sub: string) => ({ accountId: sub, claims: async () => ({ sub, ...claims }) }),
    // Consent is given: the tests are about who the person is.
    async loadExistingGrant({ oidc: { provider: own, client, session, requestParamScopes } }: GrantContext) {
      const grant = new own.Grant({ clientId: client.clientId, accountId: session.accountId })
      grant.addOIDCScope([...requestParamScopes].join(' '))
      await grant.save()
      return grant
    },
  })
  const answer = provider.callback()
  server.on('request', (request, response) => {
    if (isDown) return void response.writeHead(503).end()
    if (replaced(request, response)) return
    if (!request.url?.startsWith('/interaction/')) return answer(request, response)
    return void provider.interactionFinished(request, response, { login: { accountId: 'person-1' } })
  })
  return {
    issuer,
    /** The report of the provider from now on. */
    setClaims(given: Claims) {
      claims = given
    },
    /** Answers some requests in another way from now on. */
    replace(given: Replacement) {
      replaced = given
    },
    /** Answers every request with 503, or no longer. */
    setDown(given: boolean) {
      isDown = given
    },
    /**
     * Follows a browser's way from the authorization address through the provider.
     * @returns Path and query of the address that the provider sends the browser back to.
     */
    async pass(location: string): Promise<string> {
      const cookies = new Map<string, string>()
      let at = location
      while (at.startsWith(issuer)) {
        const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
        const answered = await fetch(at, { redirect: 'manual', headers: { cookie } })
        for (const set of answered.headers.getSetCookie()) {
          const [name = '', value = ''] = (set.split(';')[0] ?? '').split('=', 2)
          cookies.set(name, value)
        }
        const next = answered.headers.get('location')
        if (next === null) throw new Error(`The provider stopped: ${answered.status} ${await answered.text()}`)
        at = new URL(next, at).href
      }
      const { pathname, search } = new URL(at)
      return `${pathname}${search}`
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
