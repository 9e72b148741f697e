/** Sharing on the accounts of the store, and whoever registers and proves an address. @module */
import { createAccountClaims } from '../../src/identity/claim-account.js'
import { createEmailCodes } from '../../src/identity/email-codes.js'
import { seededRandom } from './seeded-random.js'
import { email, shareSetup } from './share-setup.js'

/** Builds it. */
export function provingSetup() {
  const setup = shareSetup({ holdsAddresses: true })
  const { store, emails, clock, provider } = setup
  let made = 0
  const codes = createEmailCodes(Buffer.alloc(32, 1), seededRandom('codes'))
  const claims = createAccountClaims({ store, emails, codes, clock, ids: { next: () => `user-${++made}` } })
  const proveAs = async (accountId: string, address: string) => {
    await claims.claimByCode(address, (await claims.requestCode(address)).code, { accountId })
    return accountId
  }
  return {
    ...setup,
    claims,
    proveAs,
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
  }
}
