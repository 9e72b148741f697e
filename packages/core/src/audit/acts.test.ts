/** Which acts are in which audit chain. Source: docs/decisions/audit.md. */
import { expect, test } from 'vitest'
import { ok } from '../../test/support/dispatcher-setup.js'
import { manualClock } from '../../test/support/manual-clock.js'
import { memoryDeliveries } from '../../test/support/memory-deliveries.js'
import { memoryStore } from '../../test/support/memory-store.js'
import { seededRandom } from '../../test/support/seeded-random.js'
import type { AuditChainKey } from '../ports/store-audit.js'
import { parseMasterKey } from '../secrets/master-key.js'
import { createService } from '../service.js'

const address = `0x${'a1'.repeat(20)}`
const notificationUrl = 'https://shop.example/hook'
const delivered = {
  ...{ startedAt: 1, latencyMs: 1, status: 200, reason: null, excerpt: null, replay: false },
} as const

function setUp() {
  const clock = manualClock()
  const deliveries = memoryDeliveries(clock)
  const store = memoryStore({ now: () => clock.now(), deliveries, auditChains: 3 })
  const locked: AuditChainKey[] = []
  const { transaction } = store
  store.transaction = (work) =>
    transaction((tx) =>
      work({
        ...tx,
        lockAudit(key) {
          locked.push(key)
          return tx.lockAudit(key)
        },
      }),
    )
  const service = createService({
    ...{ store, clock, sender: { post: async () => ok } },
    masterKey: parseMasterKey('00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f'),
    random: seededRandom('acts'),
  })
  return { clock, deliveries, store, service, locked }
}

test('acts on an integration are in its chain, all others in that of the service', async () => {
  const { clock, deliveries, store, service, locked } = setUp()
  const { integrations, integrationSessions } = service
  const source = '192.0.2.1'
  await integrations.create({ address })
  await integrations.setNotificationUrl(address, notificationUrl)
  const { apiSecret } = await integrations.rotateApiSecret(address, { graceMs: 60_000 })
  await integrations.endPreviousApiSecret(address)
  await integrations.prepareSigningSecret(address)
  await integrations.activateSigningSecret(address)
  await integrations.endPreviousSigningSecret(address)
  await service.endpoints.sendTest(address)
  await service.recordAct({ action: 'integration.receiver_probed', subject: address })
  const { sessionToken } = await integrationSessions.signIn({ address, apiSecret, source })
  await integrationSessions.signOut(sessionToken)
  await expect(integrationSessions.signIn({ address, apiSecret: 'wrong', source })).rejects.toThrow('wrong')
  deliveries.add({ deliveryId: '1', integrationAddress: address })
  const claims = await deliveries.claim({ limit: 1, leaseMs: 10_000 })
  const settled = claims.map((claim) => ({ claim, attempt: delivered, verdict: { kind: 'delivered' } as const }))
  await deliveries.settle(settled, () => ({ failures: 0, blocks: 0, blockMs: null }))
  await service.deliveries.replayAll({ status: 'delivered', integrationAddress: address })
  expect(new Set(locked)).toEqual(new Set([address]))
  const chain = (await store.transaction((tx) => tx.lockAudit(address))).next % 3
  expect(store.committed().audit.map(({ action, seq }) => [action, seq % 3])).toEqual(
    [
      ...['integration.created', 'integration.url_set', 'integration.api_secret_rotated'],
      ...['integration.previous_api_secret_ended', 'integration.signing_secret_prepared'],
      ...['integration.signing_secret_activated', 'integration.previous_signing_secret_ended'],
      ...['integration.test_sent', 'integration.receiver_probed', 'integration.signed_in', 'integration.signed_out'],
      ...['integration.sign_in_failed', 'deliveries.replayed'],
    ].map((action) => [action, chain]),
  )
  locked.length = 0
  await clock.advance(1)
  await service.legacyKeys.create()
  await service.operators.create({ name: 'alice' })
  await service.recordAct({ action: 'job.stopped', subject: 'job' })
  expect(new Set(locked)).toEqual(new Set([null]))
})

test('secrets are resealed while all chains are locked: no integration rotates one meanwhile', async () => {
  const { service, locked } = setUp()
  await service.integrations.create({ address })
  locked.length = 0
  await service.integrations.resealSecrets()
  expect(locked).toEqual([null, null, 1, 2])
})
