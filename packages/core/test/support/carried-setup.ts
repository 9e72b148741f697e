/** An account that carries the address of somebody else without a proof. @module */
import { expect } from 'vitest'
import { provingSetup } from './proving-setup.js'
import { approved, email, shop } from './share-setup.js'

/** Builds it. */
export async function carriedSetup() {
  const setup = provingSetup()
  const { clock, provider, verdicts, webhook, of, claims } = setup
  const { accountId: squatter } = await claims.register(email)
  const name = `pi:${squatter}:1`
  return {
    ...setup,
    squatter,
    name,
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
