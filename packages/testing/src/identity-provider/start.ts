/** Starts the identity provider on a port of this machine. @module */
import { serve } from '../serve.js'
import { type IdentityProviderOptions, identityProviderDefaults } from './options.js'
import { type IdentityProviderControl, openProvider } from './provider.js'

/** A running provider. */
export interface TestIdentityProvider extends IdentityProviderControl {
  /** The `baseUrl` of a client, such as `http://127.0.0.1:40123`. */
  readonly url: string
  /** Closes every connection, even hanging ones, and stops. */
  close(): Promise<void>
}

/**
 * Starts the provider on loopback.
 * @throws TypeError When two clients share an id or an app token, or one lacks a credential.
 * @example const provider = await startIdentityProvider({ clients: [donor, service] })
 */
export async function startIdentityProvider(options: IdentityProviderOptions): Promise<TestIdentityProvider> {
  const { answer, ...provider } = openProvider(options)
  const { url, close } = await serve(answer, options.port ?? identityProviderDefaults.port)
  return {
    ...provider,
    url,
    async close() {
      provider.close()
      await close()
    },
  }
}
