/** INTERFACE 4.2: a host with users of its own says whose an address is, and the accounts of the store have no part in that. */
import { expect, test } from 'vitest'
import { ok } from '../../test/support/dispatcher-setup.js'
import { manualClock } from '../../test/support/manual-clock.js'
import { memoryIdentityAccounts } from '../../test/support/memory-identity-accounts.js'
import { memoryStore } from '../../test/support/memory-store.js'
import { scriptedProvider } from '../../test/support/scripted-provider.js'
import { seededRandom } from '../../test/support/seeded-random.js'
import { approved, email, rejected, shop } from '../../test/support/share-setup.js'
import type { Store } from '../ports/store.js'
import { parseMasterKey } from '../secrets/master-key.js'
import { createService } from '../service.js'
import { claimLeaseMs } from './claim-times.js'

/** A service, and somebody who proved the address at an account of its store. */
async function setUp(isHosted: boolean) {
  const clock = manualClock()
  const rows = memoryStore({ now: () => clock.now() })
  const provider = scriptedProvider(() => clock.now())
  let made = 0
  const { identity } = createService({
    // The double has what sharing uses; nothing else of the service runs on it.
    store: { ...rows, identityAccounts: memoryIdentityAccounts(rows) } as Partial<Store> as Store,
    sender: { post: async () => ok },
    masterKey: parseMasterKey('00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f'),
    random: seededRandom('host accounts'),
    clock,
    ids: { next: () => `id-${++made}` },
    identity: isHosted ? { provider, accounts: { resolve: async () => ({ accountId: 'user-7' }) } } : { provider },
  })
  if (identity === null) throw new Error('there is no identity')
  const claims = await identity.claims()
  const { accountId: owner } = await claims.register(email)
  await claims.claimByCode(email, (await claims.requestCode(email)).code, { accountId: owner })
  return {
    ...{ clock, provider, identity, owner },
    share: () => identity.share({ integrationAddress: shop, email, shareToken: 'token' }),
    async holders() {
      const all = await identity.verifications({ limit: 10 })
      return all.filter(({ donor }) => donor !== null).map(({ accountId }) => accountId)
    },
  }
}
type Setup = Awaited<ReturnType<typeof setUp>>

/** Shares, and somebody hears how that ended. */
const endings: Readonly<Record<string, (setup: Setup, name: string) => Promise<unknown>>> = {
  'the request': ({ share }) => share(),
  'a webhook': async (setup, name) => {
    const { identity, clock } = await lose(setup)
    const applicantId = `applicant of ${name}`
    const verdict = { eventKey: 'event', applicantId, externalUserId: name, at: clock.now(), review: approved }
    return identity.applyVerdict(verdict)
  },
  'the poll': async (setup) => (await lose(setup)).identity.askDue(),
  'an operator': async (setup, externalUserId) => {
    const { identity } = await lose(setup)
    return identity.settleAttempt({ externalUserId, applicantId: `applicant of ${externalUserId}` })
  },
  'the next request': async (setup) => (await lose(setup)).share(),
}
async function lose(setup: Setup): Promise<Setup> {
  const { provider, share, clock } = setup
  provider.fault = (call) => (call === 'redeem' ? 'lost after' : 'lost before')
  await expect(share()).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
  provider.fault = () => null
  await clock.advance(claimLeaseMs)
  return setup
}

test.each(Object.entries(endings))('what %s ends is the host’s user’s, whoever proved the address', async (_, end) => {
  const setup = await setUp(true)
  await end(setup, 'pi:user-7:1')
  expect(await setup.holders()).toEqual(['user-7'])
  expect(setup.provider.redeemed).toHaveLength(1)
})

test('a share is told what is known of the host’s user while another one redeems, whatever the address', async () => {
  const { identity, provider, clock } = await setUp(true)
  let tokens = 0
  const shareFor = (address: string) =>
    identity.share({ integrationAddress: shop, email: address, shareToken: `token ${++tokens}` })
  await shareFor(email)
  const applicantId = 'applicant of pi:user-7:1'
  const verdict = { eventKey: 'event', applicantId, externalUserId: 'pi:user-7:1', at: clock.now(), review: rejected }
  expect(await identity.applyVerdict(verdict)).toBe('applied')
  const told: unknown[] = []
  provider.pause = async (call, half) => {
    if (call !== 'redeem' || half !== 'answer') return
    provider.pause = async () => undefined
    told.push(await shareFor('second.user@example.com'))
  }
  expect(await shareFor(email)).toMatchObject({ reused: true })
  expect(told).toEqual([{ ...rejected, reused: false }])
})

test('without them it is the account’s that owns the address', async () => {
  const setup = await setUp(false)
  await setup.share()
  expect(await setup.holders()).toEqual([setup.owner])
})
