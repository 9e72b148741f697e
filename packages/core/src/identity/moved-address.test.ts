/** INTERFACE 4.2: what is shared for an address is its owner's, whenever somebody proves it. */
import { expect, test } from 'vitest'
import { seededRandom } from '../../test/support/seeded-random.js'
import { approved, email, rejected, shareSetup, shop } from '../../test/support/share-setup.js'
import { createAccountClaims } from './claim-account.js'
import { createEmailCodes } from './email-codes.js'
import { createShare } from './share.js'

/** Sharing on the accounts of the store, and somebody who registers and proves the address at a moment of the test's. */
function setUp() {
  const setup = shareSetup({ holdsAddresses: true })
  const { store, provider, clock, emails, logger } = setup
  let made = 0
  const ids = { next: () => `user-${++made}` }
  const codes = createEmailCodes(Buffer.alloc(32, 1), seededRandom('codes'))
  const claims = createAccountClaims({ store, emails, codes, clock, ids })
  const proveAs = async (accountId: string, address = email) => {
    await claims.claimByCode(address, (await claims.requestCode(address)).code, { accountId })
    return accountId
  }
  const prove = async (address = email) => proveAs((await claims.register(address)).accountId, address)
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
    proveAs,
    claims,
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
    share: (address = email) => share({ integrationAddress: shop, email: address, shareToken: `token ${++tokens}` }),
    of: (accountId: string) => store.transaction((tx) => tx.verifications.lock(accountId)),
  }
}

const other = 'second.user@example.com'

test('a verification that was shared for another address stays when its account gives this one away', async () => {
  const { share, prove, proveAs, of, webhook, provider } = setUp()
  const account = await prove(other)
  await share(other)
  const applicantId = `applicant of pi:${account}:1`
  await webhook(approved, { name: `pi:${account}:1` })
  await proveAs(account)
  const newcomer = await prove()
  expect(await of(account)).toMatchObject({ donor: shop, applicantId, review: approved })
  expect(await of(newcomer)).toMatchObject({ donor: null, applicantId: null })
  expect(await share()).toMatchObject({ reused: true })
  expect(provider.redeemed.map(({ externalUserId }) => externalUserId)).toEqual([`pi:${account}:1`, `pi:${newcomer}:1`])
})

test('one that went along with its address goes along with it again, and with no other', async () => {
  const { share, prove, proveAs, of, webhook } = setUp()
  await share()
  await webhook(approved)
  const [first, second] = [await prove(), await prove()]
  expect(await of(first)).toMatchObject({ donor: null })
  expect(await of(second)).toMatchObject({ donor: shop, attempt: null, review: approved })
  await proveAs(second, other)
  const third = await prove(other)
  expect(await of(second)).toMatchObject({ donor: shop, review: approved })
  expect(await of(third)).toMatchObject({ donor: null })
})

test.each(['the poll', 'a request'])(
  'nor does it go along when %s ends a retry for the address given away',
  async (who) => {
    const { share, prove, proveAs, of, webhook, provider, verdicts, during, clock } = setUp()
    const account = await prove(other)
    await share(other)
    const applicantId = `applicant of pi:${account}:1`
    provider.reviews.set(applicantId, rejected)
    await webhook(rejected, { name: `pi:${account}:1` })
    await proveAs(account)
    let newcomer = ''
    if (who === 'the poll') {
      provider.fault = () => 'lost before'
      await expect(share()).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
      provider.fault = () => null
      newcomer = await prove()
      await clock.advance(200_000)
      await verdicts.ask()
    } else {
      provider.fault = () => 'rejected'
      during('redeem', async () => {
        newcomer = await prove()
      })
      await expect(share()).rejects.toMatchObject({ code: 'ERR_SHARE_TOKEN_REJECTED' })
    }
    expect(await of(account)).toMatchObject({ donor: shop, applicantId, review: rejected, claim: null })
    expect(await of(newcomer)).toMatchObject({ donor: null, applicantId: null, claim: null })
  },
)

test('an address that its account leaves between resolving it and claiming is shared for nobody who carries another', async () => {
  const { share, once, prove, proveAs, of, provider } = setUp()
  const account = await prove()
  once(() => proveAs(account, other))
  expect(await share()).toMatchObject({ reused: true })
  expect(await of(account)).toMatchObject({ donor: null, attempts: 0 })
  expect(await share()).toMatchObject({ reused: false })
  expect(provider.redeemed).toHaveLength(1)
})

test('an address that its account leaves during a look-up is not redeemed for that account', async () => {
  const { share, prove, proveAs, of, provider, clock, during } = setUp()
  const account = await prove()
  provider.fault = () => 'lost before'
  await expect(share()).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
  provider.fault = () => null
  await clock.advance(200_000)
  during('find', () => proveAs(account, other))
  expect(await share()).toMatchObject({ reused: true })
  expect(await of(account)).toMatchObject({ donor: null, claim: null, attempts: 2 })
  expect(await share()).toMatchObject({ reused: false })
  expect(provider.redeemed).toHaveLength(1)
})

/** From which moment on the first locks of each transaction are noted. */
function watchLocks({ store }: ReturnType<typeof setUp>): string[][] {
  const watched: string[][] = []
  const { transaction } = store
  store.transaction = (work) =>
    transaction((tx) => {
      const locked = new Set<string>()
      const lock = (accountId: string) => {
        locked.add(accountId)
        return tx.verifications.lock(accountId)
      }
      return work({ ...tx, verifications: { ...tx.verifications, lock } }).finally(() => watched.push([...locked]))
    })
  return watched
}

test.each<[string, (setup: ReturnType<typeof setUp>, take: () => Promise<unknown>) => Promise<unknown>, number]>([
  ['when the address is proven', async ({ share }, take) => [await share(), await take()], 1],
  [
    'when a request ends',
    async ({ share, during }, take) => {
      during('redeem', take)
      await share()
    },
    2,
  ],
  [
    'when the poll ends it',
    async ({ share, provider, verdicts, clock }, take) => {
      provider.fault = () => 'lost after'
      await expect(share()).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
      provider.fault = () => null
      await take()
      await clock.advance(200_000)
      await verdicts.ask()
    },
    2,
  ],
])('two verifications are locked in the order of their accounts %s', async (_, move, transactions) => {
  const setup = setUp()
  const { prove, proveAs, of } = setup
  const [first, second] = [await prove(other), await prove()]
  expect(first < second).toBe(true)
  const watched = watchLocks(setup)
  await move(setup, () => proveAs(first))
  expect(await of(first)).toMatchObject({ donor: shop, applicantId: `applicant of pi:${second}:1` })
  const both = watched.filter((locked) => locked.length > 1)
  expect(both).toEqual(Array.from({ length: transactions }, () => [first, second]))
})

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
