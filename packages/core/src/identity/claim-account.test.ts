import { describe, expect, test } from 'vitest'
import { seededRandom } from '../../test/support/seeded-random.js'
import { email, otherShop, shareSetup, shop } from '../../test/support/share-setup.js'
import { createAccountClaims } from './claim-account.js'
import { createEmailCodes } from './email-codes.js'
import { createEmailKeys } from './email-keys.js'
import { EmailProofError, ShareRequestError } from './errors.js'

function setUp() {
  const shared = shareSetup()
  const { store, accounts, clock } = shared
  const emails = createEmailKeys(seededRandom('data key').bytes(32), seededRandom('more nonces'))
  const claims = createAccountClaims({ store, accounts, emails, codes: createEmailCodes(Buffer.alloc(32, 1)), clock })
  return { ...shared, claims }
}
const owned = { accountId: 'account-1', kind: 'registered', emailVerified: true }

describe('a placeholder is claimed', () => {
  test('by the code that was sent to its address, in any spelling of it', async () => {
    const { claims, share } = setUp()
    await share()
    const { code } = claims.requestCode(email.toUpperCase())
    expect(await claims.claimByCode(` ${email}`, code)).toEqual(owned)
    expect(await claims.claimByCode(email, code)).toEqual(owned)
  })

  test('at once by the integration that shared its verification', async () => {
    const { claims, share } = setUp()
    await share()
    expect(await claims.claimByAttestation(email, shop.toUpperCase().replace('0X', '0x'))).toEqual(owned)
  })
})

describe('nobody claims an account', () => {
  test('by a wrong code, a code of another address, or one that is too old', async () => {
    const { claims, share, clock } = setUp()
    await share()
    const { code, expiresAt } = claims.requestCode(email)
    await expect(claims.claimByCode(email, 'AAAAAAAAAAAA')).rejects.toThrow(EmailProofError)
    await expect(claims.claimByCode('other@example.com', code)).rejects.toThrow(EmailProofError)
    await clock.advance(expiresAt - clock.now())
    await expect(claims.claimByCode(email, code)).rejects.toThrow(EmailProofError)
  })

  test('by the attestation of an integration that did not share its verification', async () => {
    const { claims, share } = setUp()
    await expect(claims.claimByAttestation(email, shop)).rejects.toThrow(EmailProofError)
    await share()
    await expect(claims.claimByAttestation(email, otherShop)).rejects.toThrow(EmailProofError)
  })

  test('of something that is no address', async () => {
    const { claims } = setUp()
    expect(() => claims.requestCode('user@')).toThrow(ShareRequestError)
    await expect(claims.claimByCode('user@', 'x')).rejects.toThrow(ShareRequestError)
    await expect(claims.claimByAttestation('', shop)).rejects.toThrow(ShareRequestError)
  })
})
