import { createSumsubClient } from '@payment-integration/identity-sumsub/service'
import { identityProviderConformance } from '@payment-integration/testing/conformance'
import { startIdentityProvider } from '@payment-integration/testing/identity-provider'
import { donor, mintToken, recipient } from '../../test/support/sharing-service.js'
import { createSumsubIdentityProvider } from './sumsub-provider.js'

identityProviderConformance('Sumsub', async () => {
  const local = await startIdentityProvider({ clients: [donor, recipient] })
  const { appToken, secretKey } = recipient
  const connection = { appToken, secretKey, baseUrl: local.url, levelName: 'basic-kyc-level', timeoutMs: 600_000 }
  const provider = createSumsubIdentityProvider(createSumsubClient, connection)
  const mint = () => mintToken(local)
  return { provider, mint, clock: Date, cutOff: () => local.close(), close: () => provider.close() }
})
