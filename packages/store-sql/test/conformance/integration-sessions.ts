/** Tests: sessions of integrations at the portal. Source: docs/decisions/operators.md. @module */

import type { IntegrationSessionRecord } from '@payment-integration/core/internal'
import { expect } from 'vitest'
import { epoch, integration, otherShop, shop } from './fixtures.js'
import { hashOf, sessionTests } from './sessions.js'
import type { StoreTest } from './subject.js'

/** A session of the shop. */
export const getSession = (n: number, changes: Partial<IntegrationSessionRecord> = {}): IntegrationSessionRecord => ({
  ...{ hash: hashOf(n), integrationAddress: shop, apiSecretHash: 'ab'.repeat(32), createdAt: epoch },
  expiresAt: epoch + n,
  ...changes,
})
export function integrationSessionTests(test: StoreTest): void {
  test('a session is found with its integration, as the integration is now', async ({ store }) => {
    const record = integration({ previousApiSecret: { keyVersion: 1, hash: 'cd'.repeat(32), until: epoch + 9 } })
    await store.integrations.insert(record)
    const session = getSession(7, { createdAt: epoch + 3, apiSecretHash: 'cd'.repeat(32) })
    await store.transaction(({ integrationSessions }) => integrationSessions.insert(session))
    expect(await store.integrationSessions.find(hashOf(7))).toStrictEqual({ session, integration: record })
    const change = { enabled: false, apiSecret: { keyVersion: 2, hash: 'ef'.repeat(32) } }
    await store.integrations.update(shop, change)
    expect(await store.integrationSessions.find(hashOf(7))).toMatchObject({ session, integration: change })
    for (const hash of ['', hashOf(8)]) expect(await store.integrationSessions.find(hash)).toBeNull()
  })

  sessionTests<IntegrationSessionRecord>(test, {
    async prepare({ integrations }) {
      for (const address of [shop, otherShop]) await integrations.insert(integration({ address }))
    },
    session: getSession,
    of: (owner, n) => getSession(n, { integrationAddress: owner === 'second' ? otherShop : `0x${'99'.repeat(20)}` }),
    find: ({ integrationSessions }, hash) => integrationSessions.find(hash),
    bind: ({ integrationSessions }) => ({
      ...integrationSessions,
      deleteByFirst: () => integrationSessions.deleteByIntegration(shop),
      keepNewestOfFirst: (count) => integrationSessions.keepNewest(shop, count),
    }),
  })
}
