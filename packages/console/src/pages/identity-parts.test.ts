/** Lists of the page of identity that end early. */
import type { RedemptionRecord } from '@payment-integration/core/internal'
import { expect, it } from 'vitest'
import { IdentityPage } from './identity.js'

const redemption = (n: number): RedemptionRecord => ({
  subjectId: `subject-${n}`,
  number: 1,
  startedAt: n,
  levelName: null,
  isFindable: true,
  state: 'unresolved',
  externalUserId: `user-${n}`,
  integrationAddress: `0x${'11'.repeat(20)}`,
  applicantId: null,
  isLeased: false,
})

it('decisions and redemptions beyond the first 50 are counted', async () => {
  const redemptions = Array.from({ length: 60 }, (_, n) => redemption(n))
  const view = { query: {}, subjects: [], redemptions, verdicts: [], maxRead: 60 }
  const html = String(await IdentityPage(view))
  expect(html).toContain('50 of 60 unknown outcomes.')
  expect(html).toContain('50 of at least 60 redemptions. Choose a keyed hash')
})
