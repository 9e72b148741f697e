/** INTERFACE 4.2: what is shared for an address is its owner's, whenever somebody proves it. */
import { expect, test } from 'vitest'
import { seededRandom } from '../../test/support/seeded-random.js'
import { approved, email, rejected, shareSetup, shop } from '../../test/support/share-setup.js'
import { createAccountClaims } from './claim-account.js'
import { createEmailCodes } from './email-codes.js'
import { createShare } from './share.js'

/** Sharing on the accounts of the store, and somebody who registers and proves the address at a moment of the test's. */
function setUp() {
  const setup = shareSetup()
  const { store, provider, clock, emails, logger } = setup
  let made = 0
  const ids = { next: () => `user-${++made}` }
  const codes = createEmailCodes(Buffer.alloc(32, 1), seededRandom('codes'))
  const claims = createAccountClaims({ store, emails, codes, clock, ids })
  const prove = async () => {
    const { accountId } = await claims.register(email)
    await claims.claimByCode(email, (await claims.requestCode(email)).code, { accountId })
    return accountId
  }
  let meanwhile = async () => undefined as unknown
  const accounts = {
    async resolve(address: Parameters<typeof setup.accounts.resolve>[0]) {
      const resolved = await setup.accounts.resolve(address)
      await meanwhile()
      return resolved
    },
  }
  const deps = { store, accounts, provider, emails, clock, ids, logger, holdsAddresses: true }
  const share = createShare(deps)
  let tokens = 0
  return {
    ...setup,
    prove,
    once(work: () => Promise<unknown>) {
      meanwhile = async () => {
        meanwhile = async () => undefined
        await work()
      }
    },
    /** Runs when a call is on its way back, once. */
    during(call: 'redeem' | 'find', work: () => Promise<unknown>) {
      provider.pause = async (which, half) => {
        if (which !== call || half !== 'answer') return
        provider.pause = async () => undefined
        await work()
      }
    },
    share: () => share({ integrationAddress: shop, email, shareToken: `token ${++tokens}` }),
    of: (accountId: string) => store.transaction((tx) => tx.verifications.lock(accountId)),
  }
}

test('an address that is proven between resolving it and claiming is shared for its owner', async () => {
  const { share, once, prove, of, provider } = setUp()
  let owner = ''
  once(async () => {
    owner = await prove()
  })
  expect(await share()).toMatchObject({ reused: true })
  expect(await of(owner)).toMatchObject({ donor: shop, applicantId: `applicant of pi:${owner}:1`, claim: null })
  expect(await of('account-1')).toMatchObject({ donor: null, attempts: 0 })
  expect(await share()).toMatchObject({ reused: false })
  expect(provider.redeemed).toHaveLength(1)
})

test('what is redeemed while the address is proven goes along to its owner', async () => {
  const { share, during, prove, of, provider } = setUp()
  let owner = ''
  during('redeem', async () => {
    owner = await prove()
  })
  expect(await share()).toMatchObject({ reused: true })
  expect(await of(owner)).toMatchObject({ donor: shop, applicantId: 'applicant of pi:account-1:1' })
  expect(await of('account-1')).toMatchObject({ donor: null, applicantId: null, claim: null, attempts: 1 })
  expect(await share()).toMatchObject({ reused: false })
  expect(provider.redeemed).toHaveLength(1)
})

test('a refused token leaves what was shared before with whoever proved the address meanwhile', async () => {
  const { share, during, prove, of, provider, webhook } = setUp()
  await share()
  await webhook(rejected)
  let owner = ''
  provider.fault = () => 'rejected'
  during('redeem', async () => {
    owner = await prove()
  })
  await expect(share()).rejects.toMatchObject({ code: 'ERR_SHARE_TOKEN_REJECTED' })
  expect(await of(owner)).toMatchObject({ donor: shop, review: rejected })
})

test.each([true, false])('a lost answer that is looked up while the address is proven: found %s', async (isFound) => {
  const { share, during, prove, of, provider, clock } = setUp()
  provider.fault = () => (isFound ? 'lost after' : 'lost before')
  await expect(share()).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
  provider.fault = () => null
  await clock.advance(200_000)
  let owner = ''
  during('find', async () => {
    owner = await prove()
  })
  for (const { applicantId } of provider.redeemed) provider.reviews.set(applicantId, approved)
  expect(await share()).toMatchObject({ reused: !isFound })
  expect(await of(owner)).toMatchObject({
    ...{ donor: shop, claim: null },
    applicantId: isFound ? 'applicant of pi:account-1:1' : `applicant of pi:${owner}:1`,
  })
  expect(await of('account-1')).toMatchObject({ donor: null, claim: null })
  expect(provider.redeemed).toHaveLength(1)
})
