/** docs/decisions/identity.md over the provider's protocol: redemptions with lost answers, and names that are taken. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createService, parseMasterKey, silentLogger, systemClock } from '@payment-integration/core'
import { createSumsubApi } from '@payment-integration/identity-sumsub/service'
import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
import { startIdentityProvider } from '@payment-integration/testing/identity-provider'
import { expect, it, onTestFinished } from 'vitest'
import { redemptionLeaseMs } from '../../core/src/identity/redemption.js'
import { createSumsubProvider } from '../src/identity/sumsub-provider.js'
import { createUndiciSender } from '../src/sender/undici-sender.js'
import { timingMasterKey } from './support/start-timing-server.js'

const donor = { clientId: 'Shop', appToken: 'sbx:shop', secretKey: 'secret-of-the-shop', partners: ['Service'] }
const recipient = {
  clientId: 'Service',
  appToken: 'sbx:service',
  secretKey: 'secret-of-the-service',
  partners: ['Shop'],
}
const shop = `0x${'a1'.repeat(20)}`
const otherShop = `0x${'b2'.repeat(20)}`
const email = 'user@shop.example'
const unavailable = { code: 'ERR_IDENTITY_UNAVAILABLE' }
const notDonated = { code: 'ERR_VERIFICATION_UNAVAILABLE' }

/** A service and a provider on one clock that the test moves. */
async function started(redeemBy: 'reuse' | 'import') {
  let aheadMs = 0
  const clock = { ...systemClock, now: () => Date.now() + aheadMs }
  const local = await startIdentityProvider({ clients: [donor, recipient], now: clock.now })
  const folder = await mkdtemp(join(tmpdir(), 'payment-integration-lost-answers-'))
  const store = createSqliteStore({ path: join(folder, 'sharing.db'), clock })
  await store.migrate()
  const { appToken, secretKey } = recipient
  const provider = createSumsubProvider(createSumsubApi, {
    ...{ baseUrl: local.url, appToken, secretKey, levelName: 'basic-kyc-level', redeemBy },
    ...{ now: clock.now, clock, timeoutMs: 2_000 },
  })
  const sender = createUndiciSender()
  const masterKey = parseMasterKey(timingMasterKey)
  const service = createService({ store, sender, masterKey, clock, logger: silentLogger, identity: { provider } })
  const { identity } = service
  if (identity === null) throw new Error('The service was built without an identity provider.')
  onTestFinished(async () => {
    provider.close()
    await sender.close()
    await store.close()
    await local.close()
    await rm(folder, { recursive: true, force: true })
  })
  const mint = () => {
    const { id: applicantId } = local.addApplicant({ clientId: 'Shop' })
    return local.mintShareToken({ applicantId, forClientId: 'Service' })
  }
  return {
    local,
    identity,
    pass(ms: number) {
      aheadMs += ms
    },
    share: (integrationAddress: string, shareToken = mint()) =>
      identity.share({ integrationAddress, email, shareToken }),
    /** The only subject. */
    subject: async () => (await identity.subjects({ limit: 1 }))[0],
  }
}

it('a redemption with a lost answer is found after its lease, for the integration that shared the token', async () => {
  const { local, share, pass, subject } = await started('reuse')
  local.fail({ on: 'reuse', at: 'after', answer: 'lost' })
  local.fail({ on: 'find', at: 'before', answer: 'lost' })
  await expect(share(shop)).rejects.toMatchObject(unavailable)
  pass(redemptionLeaseMs)
  await expect(share(otherShop)).rejects.toMatchObject(notDonated)
  expect(await subject()).toMatchObject({ donor: shop, applicantId: local.redemptions[0]?.applicantId })
  expect(await share(shop)).toMatchObject({ reused: false })
  expect(local.redemptions).toHaveLength(1)
})

it('after a lost answer of the import endpoint nothing is redeemed until an operator names the applicant', async () => {
  const { local, share, pass, identity, subject } = await started('import')
  local.fail({ on: 'import', at: 'after', answer: 'lost' })
  await expect(share(shop)).rejects.toMatchObject(unavailable)
  for (let days = 0; days < 3; days += 1) {
    pass(24 * 60 * 60_000)
    for (const by of [otherShop, shop]) await expect(share(by)).rejects.toMatchObject(unavailable)
    await identity.pollDue()
  }
  expect(local.redemptions).toHaveLength(1)
  const [redemption] = await identity.redemptions({ limit: 10 })
  expect(redemption).toMatchObject({ state: 'unresolved', integrationAddress: shop })
  const { applicantId = '' } = local.redemptions[0] ?? {}
  const { externalUserId = '' } = redemption ?? {}
  expect(await identity.resolveRedemption({ externalUserId, applicantId })).toBe('attached')
  expect(await subject()).toMatchObject({ donor: shop, applicantId })
  await expect(share(otherShop)).rejects.toMatchObject(notDonated)
  expect(local.redemptions).toHaveLength(1)
})

it('a name of an older applicant is skipped: the same request uses the next name', async () => {
  const { local, share, pass, subject, identity } = await started('reuse')
  await expect(share(shop, 'no token')).rejects.toMatchObject({ code: 'ERR_SHARE_TOKEN_REJECTED' })
  const { id } = (await subject()) ?? {}
  const { id: older } = local.addApplicant({ clientId: 'Service', externalUserId: `pi:${id}:2`, as: 'approved' })
  pass(redemptionLeaseMs)
  expect(await share(shop)).toMatchObject({ reused: true })
  const { applicantId } = (await subject()) ?? {}
  expect(applicantId).toBe(local.redemptions[0]?.applicantId)
  expect(applicantId).not.toBe(older)
  expect(local.redemptions).toMatchObject([{ externalUserId: `pi:${id}:3` }])
  const outcomes = (await identity.shares({ limit: 10 })).map(({ outcome }) => outcome).reverse()
  expect(outcomes).toEqual(['started', 'rejected', 'started', 'foreign', 'started', 'redeemed'])
})
