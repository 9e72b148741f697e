/** Sharing on the accounts of the store, and an account that carries the address of somebody else without a proof. @module */
import { expect } from 'vitest'
import { createAccountClaims } from '../../src/identity/claim-account.js'
import { createEmailCodes } from '../../src/identity/email-codes.js'
import { seededRandom } from './seeded-random.js'
import { approved, email, shareSetup, shop } from './share-setup.js'

/** Builds them. */
export async function carriedSetup() {
  const setup = shareSetup({ holdsAddresses: true })
  const { store, emails, clock, provider, verdicts, webhook, of } = setup
  let made = 0
  const codes = createEmailCodes(Buffer.alloc(32, 1), seededRandom('codes'))
  const claims = createAccountClaims({ store, emails, codes, clock, ids: { next: () => `user-${++made}` } })
  const proveAs = async (accountId: string, address: string) => {
    await claims.claimByCode(address, (await claims.requestCode(address)).code, { accountId })
    return accountId
  }
  const { accountId: squatter } = await claims.register(email)
  const name = `pi:${squatter}:1`
  return {
    ...setup,
    codes,
    claims,
    proveAs,
    squatter,
    name,
    prove: async (address: string) => proveAs((await claims.register(address)).accountId, address),
    /** Works when a call is on its way back, once. */
    during(call: 'redeem' | 'find', work: () => Promise<unknown>) {
      provider.pause = async (which, half) => {
        if (which !== call || half !== 'answer') return
        provider.pause = async () => undefined
        await work()
      }
    },
    /** The accounts that have an applicant, found by the address. */
    async holders(applicantId: string) {
      const found = await store.verifications.list({ emailKey: emails(email).key, limit: 100 })
      return found.filter((each) => each.applicantId === applicantId).map(({ accountId }) => accountId)
    },
    /** Whoever has the address proves it, has what was shared for it, and the other account has no more than its own. */
    async expectRestored(victim: string) {
      const applicantId = `applicant of ${name}`
      provider.reviews.set(applicantId, approved)
      await webhook(approved, { name, at: clock.now() + 1 })
      expect(await of(victim)).toMatchObject({ donor: shop, applicantId, review: approved, claim: null })
      expect((await of(squatter)).applicantId).not.toBe(applicantId)
      await verdicts.ask()
      expect(await of(victim)).toMatchObject({ review: approved })
    },
  }
}
