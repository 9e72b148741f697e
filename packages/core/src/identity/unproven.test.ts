/** INTERFACE 4.2: an account that proves another address keeps nothing of what was shared for one that it carried and never proved. */
import { describe, expect, test } from 'vitest'
import { carriedSetup as setUp } from '../../test/support/carried-setup.js'
import { turns } from '../../test/support/manual-clock.js'
import { seededRandom } from '../../test/support/seeded-random.js'
import { approved, email, notStarted, rejected, shareSetup, shop } from '../../test/support/share-setup.js'
import { createAccountClaims } from './claim-account.js'
import { claimLeaseMs } from './claim-times.js'
import { createEmailCodes } from './email-codes.js'

const other = 'second.user@example.com'
const unavailable = expect.objectContaining({ code: 'ERR_IDENTITY_UNAVAILABLE' })

describe('what was shared for an address that its account never proved', () => {
  test('is the account’s no more once that proves another one, and goes to whoever proves the first', async () => {
    const { share, shareFor, webhook, proveAs, prove, squatter, name, of, provider, expectRestored } = await setUp()
    await share()
    await webhook(approved, { name })
    expect(await of(squatter)).toMatchObject({ donor: shop, review: approved })
    await proveAs(squatter, other)
    expect(await of(squatter)).toMatchObject({ donor: null, applicantId: null, review: null })
    expect(await share()).toEqual({ ...approved, reused: false })
    expect(await shareFor(other)).toMatchObject({ reused: true })
    expect(provider.redeemed.map(({ externalUserId }) => externalUserId)).toEqual([name, `pi:${squatter}:2`])
    await expectRestored(await prove(email))
  })

  test('makes room for what was shared for the other one', async () => {
    const { share, shareFor, proveAs, prove, squatter, of, expectRestored } = await setUp()
    await share()
    await shareFor(other)
    await proveAs(squatter, other)
    expect(await of(squatter)).toMatchObject({ donor: shop, applicantId: 'applicant of pi:account-2:1' })
    await expectRestored(await prove(email))
  })

  test('goes to its owner when it is redeemed while the account proves the other one', async () => {
    const { share, shareFor, during, proveAs, prove, squatter, of, expectRestored } = await setUp()
    during('redeem', () => proveAs(squatter, other))
    expect(await share()).toMatchObject({ reused: true })
    expect(await of(squatter)).toMatchObject({ donor: null, applicantId: null, claim: null })
    expect(await shareFor(other)).toMatchObject({ reused: true })
    await expectRestored(await prove(email))
  })

  test.each([
    ['the poll', async ({ verdicts }: Awaited<ReturnType<typeof setUp>>) => verdicts.ask()],
    ['a webhook', async ({ webhook, name }: Awaited<ReturnType<typeof setUp>>) => webhook(approved, { name })],
    [
      'an operator',
      async ({ settle, name }: Awaited<ReturnType<typeof setUp>>) =>
        settle({ externalUserId: name, applicantId: `applicant of ${name}` }),
    ],
  ])('goes to its owner when its answer was lost before that, and %s ends it', async (_, end) => {
    const setup = await setUp()
    const { share, provider, proveAs, prove, squatter, of, clock, expectRestored } = setup
    provider.fault = (call) => (call === 'redeem' ? 'lost after' : 'lost before')
    await expect(share()).rejects.toThrow(unavailable)
    provider.fault = () => null
    await proveAs(squatter, other)
    await clock.advance(claimLeaseMs)
    await end(setup)
    expect(await of(squatter)).toMatchObject({ donor: null, applicantId: null, claim: null })
    await expectRestored(await prove(email))
  })

  test('goes along after a retry that was refused while the account proved the other one', async () => {
    const { share, webhook, during, provider, proveAs, prove, squatter, name, of, clock } = await setUp()
    await share()
    await webhook(rejected, { name })
    provider.fault = () => 'rejected'
    during('redeem', () => proveAs(squatter, other))
    await clock.advance(1_000)
    await expect(share()).rejects.toMatchObject({ code: 'ERR_SHARE_TOKEN_REJECTED' })
    expect(await of(squatter)).toMatchObject({ donor: null, claim: null })
    expect(await of(await prove(email))).toMatchObject({ donor: shop, review: rejected })
  })
})

describe('what was shared for an address that its account never proved is nobody’s', () => {
  const third = 'third.user@example.com'

  /** An account that proved an address, with a verification of its own. */
  async function verifiedAccount({ prove, shareFor, of }: Awaited<ReturnType<typeof setUp>>, address = third) {
    const accountId = await prove(address)
    await shareFor(address)
    expect(await of(accountId)).toMatchObject({ donor: shop })
    return accountId
  }
  /** It is approved, and neither of the two has it. */
  async function expectNobodys(setup: Awaited<ReturnType<typeof setUp>>, owner: string) {
    const { provider, webhook, verdicts, of, clock, holders, squatter, name } = setup
    const applicantId = `applicant of ${name}`
    provider.reviews.set(applicantId, approved)
    await clock.advance(claimLeaseMs)
    await webhook(approved, { name, at: clock.now() })
    await verdicts.ask()
    expect(await of(squatter)).toMatchObject({ donor: null, applicantId: null, review: null, claim: null })
    expect((await of(owner)).applicantId).not.toBe(applicantId)
    const nobodys = await holders(applicantId)
    expect(nobodys).toHaveLength(1)
    expect(await of(nobodys[0] ?? '')).toMatchObject({ donor: shop, applicantId, review: approved })
  }

  test('once somebody proves it who has a verification', async () => {
    const setup = await setUp()
    const { share, proveAs, squatter } = setup
    await share()
    const owner = await verifiedAccount(setup)
    await proveAs(owner, email)
    await proveAs(squatter, other)
    await expectNobodys(setup, owner)
  })

  test('once somebody proves it who has a verification, while it is redeemed', async () => {
    const setup = await setUp()
    const { share, during, proveAs, squatter } = setup
    const owner = await verifiedAccount(setup)
    during('redeem', () => proveAs(owner, email))
    await share()
    await proveAs(squatter, other)
    await expectNobodys(setup, owner)
  })

  test('once its account proves another one, where the next that carries it has a verification', async () => {
    const setup = await setUp()
    const { share, claims, proveAs, squatter, webhook, name } = setup
    await share()
    await webhook(approved, { name })
    const { accountId: carrier } = await claims.register(email)
    await setup.store.transaction(async ({ verifications }) => {
      const { donor, applicantId, review } = { donor: 'self', applicantId: 'direct', review: approved }
      await verifications.lock(carrier)
      await verifications.change(carrier, { donor, applicantId, review })
    })
    await proveAs(squatter, other)
    await expectNobodys(setup, carrier)
  })
})

describe('what a webhook attaches while it is looked up, and its account proves another address', () => {
  /** A token was redeemed and its answer lost. While it is looked up all that happens, and then the look-up fails, or its process dies. */
  async function heardDuringLookUp(how: 'fails' | 'dies') {
    const setup = await setUp()
    const { share, provider, clock, during, proveAs, squatter, webhook, name } = setup
    provider.fault = (call) => (call === 'redeem' ? 'lost after' : 'lost before')
    await expect(share()).rejects.toThrow(unavailable)
    await clock.advance(claimLeaseMs)
    provider.fault = () => 'throttled'
    provider.reviews.set(`applicant of ${name}`, approved)
    let answer = (): void => undefined
    const heard = new Promise<void>((resolve) => {
      answer = resolve
    })
    during('find', async () => {
      await proveAs(squatter, other)
      await webhook(approved, { name })
      answer()
      if (how === 'dies') await new Promise(() => undefined)
    })
    const request = share()
    if (how === 'fails') await expect(request).rejects.toThrow(unavailable)
    else await heard
    provider.fault = () => null
    provider.pause = async () => undefined
    return setup
  }

  test.each(['fails', 'dies'] as const)('is that account’s no more when the look-up %s', async (how) => {
    const { of, squatter, shareFor, prove, name } = await heardDuringLookUp(how)
    expect(await of(squatter)).toMatchObject({ donor: null, applicantId: null, review: null, claim: null })
    expect(await shareFor(other)).toMatchObject({ reused: true, reviewAnswer: null })
    expect(await of(await prove(email))).toMatchObject({ applicantId: `applicant of ${name}`, review: approved })
  })
})

test('is not told of while a redemption keeps it: its account shares for the address that it proved', async () => {
  const { share, shareFor, webhook, during, proveAs, squatter, name, provider, of } = await setUp()
  await share()
  provider.reviews.set(`applicant of ${name}`, rejected)
  await webhook(rejected, { name })
  const answers: unknown[] = []
  during('redeem', async () => {
    await proveAs(squatter, other)
    answers.push(await shareFor(other))
    expect(await of(squatter)).toMatchObject({ review: rejected, claim: { lapsed: false } })
  })
  await share()
  expect(answers).toEqual([{ ...notStarted, reused: false }])
})

test('a look-up for another address that finds nothing lets go what was shared for the first', async () => {
  const { share, shareFor, webhook, provider, proveAs, prove, squatter, name, of, clock, expectRestored } =
    await setUp()
  await share()
  await webhook(rejected, { name })
  await clock.advance(1_000)
  provider.fault = () => 'lost before'
  await expect(share()).rejects.toThrow(unavailable)
  await proveAs(squatter, other)
  expect(await of(squatter)).toMatchObject({ applicantId: `applicant of ${name}`, review: rejected })
  await clock.advance(claimLeaseMs)
  provider.fault = (call) => (call === 'redeem' ? 'rejected' : null)
  await expect(shareFor(other)).rejects.toMatchObject({ code: 'ERR_SHARE_TOKEN_REJECTED' })
  expect(await of(squatter)).toMatchObject({ donor: null, applicantId: null, review: null, claim: null })
  provider.fault = () => null
  await expectRestored(await prove(email))
})

test('an idle claim that the poll ends lets the applicant go by its own address, whatever its account shared for since', async () => {
  const { share, shareFor, webhook, provider, proveAs, prove, settle, verdicts, squatter, name, of, clock } =
    await setUp()
  await proveAs(squatter, email)
  await share()
  provider.reviews.set(`applicant of ${name}`, rejected)
  await webhook(rejected, { name })
  await proveAs(squatter, other)
  provider.fault = () => 'lost before'
  await expect(shareFor(other)).rejects.toThrow(unavailable)
  await clock.advance(claimLeaseMs)
  provider.fault = () => null
  // A process dies at its look-up, and an operator settles meanwhile what that was for: nobody ends its claim.
  provider.pause = (call) => (call === 'find' ? new Promise(() => undefined) : Promise.resolve())
  void shareFor(other)
  await turns()
  provider.pause = async () => undefined
  expect(await settle({ externalUserId: `pi:${squatter}:2`, applicantId: null })).toBe('absent')
  await proveAs(squatter, email)
  const owner = await prove(email)
  expect(await of(squatter)).toMatchObject({ donor: shop, claim: { lapsed: false } })
  await clock.advance(60 * 60_000)
  await verdicts.ask()
  expect(await of(owner)).toMatchObject({ donor: shop, applicantId: `applicant of ${name}`, review: rejected })
  expect(await of(squatter)).toMatchObject({ donor: null, claim: null })
})

test('two verifications are locked in the order of their accounts when an address is attested', async () => {
  const { store, emails, clock, share } = shareSetup({ holdsAddresses: true })
  const codes = createEmailCodes(Buffer.alloc(32, 1), seededRandom('codes'))
  const locked = new Set<string>()
  const transaction: typeof store.transaction = (work) =>
    store.transaction((tx) => {
      const lock = (accountId: string) => {
        locked.add(accountId)
        return tx.verifications.lock(accountId)
      }
      return work({ ...tx, verifications: { ...tx.verifications, lock } })
    })
  const ids = { next: () => 'aaa' }
  const claims = createAccountClaims({ store: { ...store, transaction }, emails, codes, clock, ids })
  await share()
  const { accountId } = await claims.register(email)
  await claims.claimByAttestation(email, shop, { accountId })
  expect([...locked]).toEqual(['aaa', 'account-1'])
})
