/** Identity verifications of the host's own users, at an identity provider on this machine. */
import { randomBytes } from 'node:crypto'
import { knownRouters } from '@payment-integration/chain-evm'
import { type Client, createClient } from '@payment-integration/client'
import { startIdentityProvider, type TestIdentityProvider } from '@payment-integration/testing/identity-provider'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgresMissing, startPostgres, type TestPostgres } from '../../../packages/store-sql/test/postgres.js'
import { type Host, startHost } from './host.js'

const shop = { clientId: 'Shop', appToken: 'sbx:shop', secretKey: 'secret-of-the-shop', partners: ['Host'] }
const own = { clientId: 'Host', appToken: 'sbx:host', secretKey: 'secret-of-the-host', partners: ['Shop'] }
const webhookSecret = 'secret-of-the-webhook'
const integrationAddress = `0x${'a1'.repeat(20)}`

describe.skipIf(postgresMissing)(
  `users of a host on PostgreSQL${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  () => {
    let postgres: TestPostgres
    let provider: TestIdentityProvider
    let host: Host
    let client: Client

    beforeAll(async () => {
      postgres = await startPostgres()
      provider = await startIdentityProvider({ clients: [shop, own] })
      const { appToken, secretKey } = own
      host = await startHost({
        databaseUrl: postgres.connectionString,
        masterKey: randomBytes(32).toString('hex'),
        chainId: 8453,
        rpcUrl: 'http://127.0.0.1:1',
        routers: knownRouters(8453),
        port: 0,
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
      await postgres?.remove()
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
    async function post(path: string, email: string) {
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(`${host.url}${path}`, { method: 'POST', headers, body: JSON.stringify({ email }) })
      const text = await response.text()
      return { status: response.status, id: text === '' ? '' : (JSON.parse(text) as { id: string }).id }
    }
    const register = async (email: string) => (await post('/users', email)).id
    async function prove(id: string, email: string) {
      expect((await post(`/users/${id}/proofs`, email)).status).toBe(204)
    }
    const getSubjects = (accountId: string) => host.service.identity?.subjects({ accountId, limit: 10 })

    test('the user who proves an address has its verification; a later owner of the mailbox does not', async () => {
      const email = 'Mailbox@Example.com'
      expect(await share(email)).toMatchObject({ kind: 'in_flight', redeemed: true })
      await approveNewest()

      const anna = await register(email)
      await prove(anna, email)
      const review = { reviewAnswer: 'GREEN' }
      expect(await getSubjects(anna)).toMatchObject([{ proved: true, closed: false, review }])
      expect(await share(email)).toMatchObject({ kind: 'approved', redeemed: false })

      const bert = await register(email)
      expect(await getSubjects(bert)).toEqual([])
      await prove(bert, email)
      expect(await share(email)).toMatchObject({ kind: 'in_flight', redeemed: true })
      expect(await getSubjects(anna)).toMatchObject([{ closed: true, review }])
      expect(await getSubjects(bert)).toMatchObject([{ proved: true, review: { reviewAnswer: null } }])
    })

    test('of fifty shares at once while a user proves the address, one redeems', async () => {
      const email = 'race@example.com'
      const carl = await register(email)
      const before = provider.redemptions.length
      const shares = Array.from({ length: 50 }, () => share(email))
      const [results] = await Promise.all([Promise.all(shares), prove(carl, email)])
      expect(results.filter(({ redeemed }) => redeemed)).toHaveLength(1)
      expect(provider.redemptions.length).toBe(before + 1)
      expect(await getSubjects(carl)).toMatchObject([{ proved: true }])
    })
  },
)
