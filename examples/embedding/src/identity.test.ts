/** Identity verifications of the host's own users, at an identity provider on this machine. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { knownRouters } from '@payment-integration/chain-evm'
import { type Client, createClient } from '@payment-integration/client'
import { startIdentityProvider, type TestIdentityProvider } from '@payment-integration/testing/identity-provider'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Host, startHost } from './host.js'

const shop = { clientId: 'Shop', appToken: 'sbx:shop', secretKey: 'secret-of-the-shop', partners: ['Host'] }
const own = { clientId: 'Host', appToken: 'sbx:host', secretKey: 'secret-of-the-host', partners: ['Shop'] }
const webhookSecret = 'secret-of-the-webhook'
const integrationAddress = `0x${'a1'.repeat(20)}`

let folder: string
let provider: TestIdentityProvider
let host: Host
let client: Client

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'embedding-identity-'))
  provider = await startIdentityProvider({ clients: [shop, own] })
  const { appToken, secretKey } = own
  host = await startHost({
    databasePath: join(folder, 'payments.db'),
    masterKey: randomBytes(32).toString('hex'),
    chainId: 8453,
    rpcUrl: 'http://127.0.0.1:1',
    routers: knownRouters(8453),
    port: 0,
    onEvent: () => undefined,
    identity: { appToken, secretKey, levelName: 'basic-kyc-level', webhookSecret, baseUrl: provider.url },
  })
  const url = `${host.url}/payments-service/api/v1/identity-provider/webhook`
  provider.setWebhooks('Host', [{ url, secretKey: webhookSecret }])
  const { apiSecret } = await host.service.integrations.create({ address: integrationAddress })
  client = createClient({ baseUrl: `${host.url}/payments-service`, integrationAddress, apiSecret })
})

afterAll(async () => {
  await host?.stop()
  await provider?.close()
  await rm(folder, { recursive: true, force: true })
})

/** The integration shares a verification of its own for an address. */
function share(email: string) {
  const { id: applicantId } = provider.addApplicant({ clientId: 'Shop' })
  const kycShareToken = provider.mintShareToken({ applicantId, forClientId: 'Host' })
  return client.identity.share({ email, kycShareToken })
}
async function approveNewest() {
  provider.approve(provider.redemptions.at(-1)?.applicantId ?? '')
  await provider.deliverWebhooks()
}
const getSubjects = (accountId: string) => host.service.identity?.subjects({ accountId, limit: 10 })

test('a proof that the host does not report counts at the next share', async () => {
  const email = 'forgotten@example.com'
  const [dora, emil] = [host.users.register(email), host.users.register(email)]
  await host.proveEmail(dora, email)
  await share(email)
  await approveNewest()
  host.users.own(emil, email)
  expect(await share(email)).toMatchObject({ kind: 'in_flight', redeemed: true })
  expect(await getSubjects(emil)).toMatchObject([{ proved: true, review: { reviewAnswer: null } }])
  expect(await getSubjects(dora)).toMatchObject([{ closed: true, review: { reviewAnswer: 'GREEN' } }])
})
