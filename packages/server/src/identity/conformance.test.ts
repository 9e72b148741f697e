import { createSumsubClient } from '@payment-integration/identity-sumsub/service'
import { identityProviderConformance } from '@payment-integration/testing/conformance'
import { startIdentityProvider } from '@payment-integration/testing/identity-provider'
import { createSumsubIdentityProvider } from './sumsub-provider.js'

const donor = {
  clientId: 'DonorCo',
  appToken: 'sbx:donor',
  secretKey: 'secret of the donor',
  levels: { full: ['IDENTITY', 'SELFIE'] },
  partners: ['ServiceCo'],
}
const service = {
  clientId: 'ServiceCo',
  appToken: 'sbx:service',
  secretKey: 'secret of the service',
  levels: { basic: ['IDENTITY', 'SELFIE'] },
  partners: ['DonorCo'],
}

identityProviderConformance('Sumsub', async () => {
  const local = await startIdentityProvider({ clients: [donor, service] })
  const { appToken, secretKey } = service
  const provider = createSumsubIdentityProvider(createSumsubClient, {
    appToken,
    secretKey,
    baseUrl: local.url,
    levelName: 'basic',
  })
  return {
    provider,
    mint() {
      const { id } = local.addApplicant({ clientId: 'DonorCo' })
      return local.mintShareToken({ applicantId: id, forClientId: 'ServiceCo' })
    },
    now: Date.now,
    cutOff: () => local.close(),
    close: () => provider.close(),
  }
})
