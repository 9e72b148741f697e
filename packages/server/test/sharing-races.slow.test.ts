/**
 * docs/decisions/identity.md, over HTTP: two server processes on one PostgreSQL, and a provider over HTTP behind them.
 */
import { createPostgresStore } from '@payment-integration/store-sql/postgres'
import { startIdentityProvider, type TestIdentityProvider } from '@payment-integration/testing/identity-provider'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresMissing, startPostgres } from '../../store-sql/test/postgres.js'
import { basic } from './support/integration-service.js'
import {
  besideSharing,
  donorClient,
  type SharingServer,
  sharingClient,
  startSharingServer,
} from './support/start-sharing-server.js'

const rounds = 100
const address = `0x${'a1'.repeat(20)}`

describe.skipIf(postgresMissing)(
  `sharing over two server processes${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  () => {
    const stops: (() => Promise<unknown>)[] = []
    let provider: TestIdentityProvider
    let servers: readonly SharingServer[]
    let authorization: string
    beforeAll(async () => {
      const postgres = await startPostgres()
      stops.push(() => postgres.remove())
      const store = createPostgresStore({ connectionString: postgres.connectionString })
      await store.migrate()
      const beside = besideSharing(store)
      const { apiSecret } = await beside.service.integrations.create({ address })
      authorization = basic(address, apiSecret)
      await beside.stop()
      await store.close()
      provider = await startIdentityProvider({ clients: [donorClient, sharingClient] })
      stops.push(() => provider.close())
      servers = await Promise.all([1, 2].map(() => startSharingServer(postgres.connectionString, provider.url)))
      for (const { stop } of servers) stops.push(stop)
    })
    afterAll(async () => {
      for (const stop of stops.splice(0).toReversed()) await stop()
    })

    async function share({ url }: SharingServer, email: string) {
      const { id: applicantId } = provider.addApplicant({ clientId: 'Shop' })
      const kycShareToken = provider.mintShareToken({ applicantId, forClientId: 'Service' })
      const response = await fetch(`${url}/api/v1/integration/idv-share-token`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ email, kycShareToken }),
      })
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }
    }

    it(`of fifty submissions at once one redeems and the other tokens are not redeemed, ${rounds} times`, {
      timeout: 300_000 + rounds * 3_000,
    }, async () => {
      for (let round = 0; round < rounds; round += 1) {
        const before = provider.redemptions.length
        const email = `user${round}@shop.example`
        const answers = await Promise.all(
          servers.flatMap((server) => Array.from({ length: 25 }, () => share(server, email))),
        )
        expect(
          answers.map(({ status }) => status),
          `round ${round}`,
        ).toEqual(Array(50).fill(200))
        const reused = answers.filter(({ body }) => body['reused'] === true)
        expect(reused, `round ${round}`).toHaveLength(1)
        expect(reused[0]?.body).toMatchObject({ reviewStatus: 'pending' })
        expect(provider.redemptions.length, `round ${round}`).toBe(before + 1)
      }
    })
  },
)
