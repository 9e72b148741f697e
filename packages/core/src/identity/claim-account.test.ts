import { describe, expect, test } from 'vitest'
import { seededRandom } from '../../test/support/seeded-random.js'
import { approved, email, otherShop, rejected, shareSetup, shop } from '../../test/support/share-setup.js'
import { createAccountClaims } from './claim-account.js'
import { createRecordDirectVerification } from './direct-verification.js'
import { codeLifetimeMs, createEmailCodes } from './email-codes.js'
import { createEmailKeys } from './email-keys.js'
import { EmailProofError, ShareRequestError } from './errors.js'

function setUp() {
  const shared = shareSetup()
  const { store, clock } = shared
  const emails = createEmailKeys(seededRandom('data key').bytes(32), seededRandom('more nonces'))
  const codes = createEmailCodes(Buffer.alloc(32, 1), seededRandom('codes'))
  let made = 0
  const ids = { next: () => `user ${++made}` }
  const claims = createAccountClaims({ store, emails, codes, clock, ids })
  const events = () => store.committed().accountEvents
  const verificationOf = (accountId: string) => store.transaction((tx) => tx.verifications.lock(accountId))
  const recordDirect = createRecordDirectVerification({ store, clock })
  const emailKey = emails(email).key
  /** Claims in a transaction that finds no code, and sees one that is made before it ends, as databases let it. */
  const claimBefore = (issued: ReturnType<typeof codes.issue>) => {
    const transaction: typeof store.transaction = (work) =>
      store.transaction((tx) => {
        let isMade = false
        const code = async (key: string) => {
          const found = await tx.identityAccounts.code(key)
          if (!isMade) await tx.identityAccounts.setCode(key, issued.stored)
          isMade = true
          return found
        }
        return work({ ...tx, identityAccounts: { ...tx.identityAccounts, code } })
      })
    return createAccountClaims({ store: { ...store, transaction }, emails, codes, clock, ids })
  }
  return { ...shared, claims, claimBefore, codes, events, verificationOf, recordDirect, emailKey }
}
const owned = { accountId: 'account-1', kind: 'registered', emailVerified: true }

describe('a placeholder is claimed', () => {
  test('by the code that was sent to its address, in any spelling of it', async () => {
    const { claims, share } = setUp()
    await share()
    const { code } = await claims.requestCode(email.toUpperCase())
    expect(await claims.claimByCode(` ${email}`, code)).toEqual(owned)
  })

  test('at once by the integration that shared its verification', async () => {
    const { claims, share } = setUp()
    await share()
    expect(await claims.claimByAttestation(email, shop.toUpperCase().replace('0X', '0x'))).toEqual(owned)
  })

  test('for the account that registered, and what was shared goes along', async () => {
    const { claims, share, webhook, verificationOf } = setUp()
    await share()
    await webhook(approved)
    const { accountId } = await claims.register(email)
    const { code } = await claims.requestCode(email)
    expect(await claims.claimByCode(email, code, { accountId })).toEqual({ ...owned, accountId })
    expect(await verificationOf(accountId)).toMatchObject({ donor: shop, review: approved, attempts: 0 })
    expect(await verificationOf('account-1')).toMatchObject({ donor: null, applicantId: null, attempts: 1 })
    expect(await share()).toEqual({ ...approved, reused: false })
  })

  test('by attestation for the account that registered', async () => {
    const { claims, share, verificationOf } = setUp()
    await share()
    const { accountId } = await claims.register(email)
    await claims.claimByAttestation(email, shop, { accountId })
    expect(await verificationOf(accountId)).toMatchObject({ donor: shop })
  })
})

describe('a code', () => {
  test('that is made while somebody else finds none stays, and is good', async () => {
    const { claims, claimBefore, codes, clock, emailKey, events } = setUp()
    const issued = codes.issue(emailKey, clock.now())
    await expect(claimBefore(issued).claimByCode(email, 'WRONG')).rejects.toThrow(EmailProofError)
    expect(events().map(({ reason }) => reason)).toEqual(['no_code'])
    expect(await claims.claimByCode(email, issued.code)).toMatchObject({ emailVerified: true })
  })

  test('comes with the address in its normal form, where it is to be sent', async () => {
    const { claims, clock } = setUp()
    expect(await claims.requestCode(' JOSE\u0301@B\u00dcCHER.example. ')).toEqual({
      ...{
        address: 'jos\u00e9@xn--bcher-kva.example',
        code: expect.any(String),
        expiresAt: clock.now() + codeLifetimeMs,
      },
    })
  })

  test('is good once', async () => {
    const { claims } = setUp()
    const { code } = await claims.requestCode(email)
    await claims.claimByCode(email, code)
    await expect(claims.claimByCode(email, code)).rejects.toThrow(EmailProofError)
  })

  test('is good once, however many use it at once', async () => {
    const { claims } = setUp()
    const { code } = await claims.requestCode(email)
    const used = await Promise.allSettled(Array.from({ length: 10 }, () => claims.claimByCode(email, code)))
    expect(used.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  test('is over when the next one is made', async () => {
    const { claims } = setUp()
    const { code } = await claims.requestCode(email)
    const { code: next } = await claims.requestCode(email)
    await expect(claims.claimByCode(email, code)).rejects.toThrow(EmailProofError)
    expect(await claims.claimByCode(email, next)).toMatchObject({ emailVerified: true })
  })

  test('is over after five wrong tries, and a refused one changes no account', async () => {
    const { claims, events, store } = setUp()
    const { code } = await claims.requestCode(email)
    for (let tried = 0; tried < 5; tried += 1)
      await expect(claims.claimByCode(email, 'AAAAAAAAAAAA')).rejects.toThrow(EmailProofError)
    await expect(claims.claimByCode(email, code)).rejects.toThrow(EmailProofError)
    expect(events().map(({ reason }) => reason)).toEqual([null, ...Array(5).fill('code_wrong'), 'no_code'])
    expect([...store.committed().users]).toEqual([])
  })

  test('is refused when it is too old, or another address’s', async () => {
    const { claims, share, clock } = setUp()
    await share()
    const { code, expiresAt } = await claims.requestCode(email)
    await expect(claims.claimByCode('other@example.com', code)).rejects.toThrow(EmailProofError)
    await clock.advance(expiresAt - clock.now())
    await expect(claims.claimByCode(email, code)).rejects.toThrow(EmailProofError)
  })
})

describe('nobody claims an account', () => {
  test('by the attestation of an integration that did not share its verification', async () => {
    const { claims, share } = setUp()
    await expect(claims.claimByAttestation(email, shop)).rejects.toThrow(EmailProofError)
    await share()
    await expect(claims.claimByAttestation(email, otherShop)).rejects.toThrow(EmailProofError)
  })

  test('by attestation once it is somebody’s, proven or not', async () => {
    const { claims, share } = setUp()
    const { accountId } = await claims.register(email)
    await share()
    await expect(claims.claimByAttestation(email, shop)).rejects.toThrow(EmailProofError)
    const { code } = await claims.requestCode(email)
    expect(await claims.claimByCode(email, code)).toMatchObject({ accountId })
    await expect(claims.claimByAttestation(email, shop)).rejects.toThrow(EmailProofError)
  })

  test('by attestation a second time', async () => {
    const { claims, share } = setUp()
    await share()
    await claims.claimByAttestation(email, shop)
    await expect(claims.claimByAttestation(email, shop)).rejects.toThrow(EmailProofError)
  })

  test('for an account that is none', async () => {
    const { claims, share } = setUp()
    await share()
    await expect(claims.claimByAttestation(email, shop, { accountId: 'nobody' })).rejects.toThrow(EmailProofError)
    expect(await claims.claimByAttestation(email, shop)).toEqual(owned)
  })

  test('of something that is no address', async () => {
    const { claims } = setUp()
    await expect(claims.register('user@')).rejects.toThrow(ShareRequestError)
    await expect(claims.requestCode('user@')).rejects.toThrow(ShareRequestError)
    await expect(claims.claimByCode('user@', 'x')).rejects.toThrow(ShareRequestError)
    await expect(claims.claimByAttestation('', shop)).rejects.toThrow(ShareRequestError)
  })
})

describe('a registration that proved nothing', () => {
  test('carries the address, and what is shared from then on goes to it', async () => {
    const { claims, share, verificationOf } = setUp()
    const { accountId } = await claims.register(email)
    await share()
    expect(await verificationOf(accountId)).toMatchObject({ donor: shop })
  })

  test('gets nothing of what was shared before', async () => {
    const { claims, share, verificationOf } = setUp()
    await share()
    const { accountId } = await claims.register(email)
    await share()
    expect(await verificationOf(accountId)).toMatchObject({ donor: null })
    expect(await verificationOf('account-1')).toMatchObject({ donor: shop })
  })

  test('loses what was shared for the address to the account that proves it', async () => {
    const { claims, share, verificationOf } = setUp()
    const first = await claims.register(email)
    await share()
    const { accountId } = await claims.register(email)
    const { code } = await claims.requestCode(email)
    await claims.claimByCode(email, code, { accountId })
    expect(await verificationOf(accountId)).toMatchObject({ donor: shop })
    expect(await verificationOf(first.accountId)).toMatchObject({ donor: null, applicantId: null })
  })

  test('keeps what its user did directly', async () => {
    const { claims, recordDirect, verificationOf, clock } = setUp()
    const first = await claims.register(email)
    await recordDirect({ accountId: first.accountId, applicantId: 'own', review: approved, at: clock.now() })
    const { accountId } = await claims.register(email)
    const { code } = await claims.requestCode(email)
    await claims.claimByCode(email, code, { accountId })
    expect(await verificationOf(first.accountId)).toMatchObject({ donor: 'self', review: approved })
    expect(await verificationOf(accountId)).toMatchObject({ donor: null })
  })
})

describe('a direct verification', () => {
  test('is answered 409 to every share, whatever its status', async () => {
    const { claims, recordDirect, share, provider, clock } = setUp()
    const { accountId } = await claims.register(email)
    for (const review of [rejected, approved]) {
      expect(await recordDirect({ accountId, applicantId: 'own', review, at: clock.now() })).toBe('recorded')
      await expect(share()).rejects.toMatchObject({ code: 'ERR_VERIFICATION_UNAVAILABLE' })
    }
    expect(provider.calls).toEqual([])
  })

  test('follows the provider’s verdicts from then on', async () => {
    const { claims, recordDirect, verdicts, verificationOf, clock } = setUp()
    const { accountId } = await claims.register(email)
    await recordDirect({ accountId, applicantId: 'own', review: approved, at: clock.now() })
    await clock.advance(1_000)
    const news = { eventKey: 'e', applicantId: 'own', externalUserId: null, at: clock.now(), review: rejected }
    expect(await verdicts.apply(news)).toBe('applied')
    expect(await verificationOf(accountId)).toMatchObject({ donor: 'self', review: rejected })
  })

  test('leaves an approved one that was shared, and is logged when it is written', async () => {
    const { recordDirect, share, webhook, events, verificationOf, clock } = setUp()
    await share()
    const direct = { accountId: 'account-1', applicantId: null, review: approved, at: clock.now() }
    await webhook(approved)
    expect(await recordDirect(direct)).toBe('kept')
    await webhook(rejected, { at: clock.now() + 1 })
    expect(await recordDirect(direct)).toBe('recorded')
    expect(await verificationOf('account-1')).toMatchObject({ donor: 'self', applicantId: null })
    expect(events()).toMatchObject([{ action: 'verified', accountId: 'account-1', emailKey: null }])
  })
})

test('registrations, codes, claims and refusals are logged by keyed hash: who, when and how', async () => {
  const { claims, share, events, emailKey, clock } = setUp()
  await share()
  await expect(claims.claimByAttestation(email, otherShop)).rejects.toThrow(EmailProofError)
  await claims.claimByAttestation(email, shop)
  const { accountId } = await claims.register(email)
  const { code } = await claims.requestCode(email)
  await claims.claimByCode(email, code, { accountId })
  const logged = { at: clock.now(), emailKey, accountId: 'account-1', proof: null, by: null, reason: null }
  expect(events()).toEqual([
    { ...logged, action: 'refused', proof: 'attestation', by: otherShop, reason: 'not_donor' },
    { ...logged, action: 'claimed', proof: 'attestation', by: shop },
    { ...logged, action: 'registered', accountId },
    { ...logged, action: 'code_issued', accountId: null, proof: 'code' },
    { ...logged, action: 'claimed', accountId, proof: 'code' },
  ])
  expect(JSON.stringify(events())).not.toContain('canary')
})
