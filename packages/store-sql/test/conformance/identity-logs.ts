/**
 * Tests: the log of shares, verdicts, and events of the provider. Source: docs/interface.md 3;
 * docs/decisions/identity.md.
 * @module
 */
import type { ShareRecord, VerdictRecord } from '@payment-integration/core/internal'
import { expect } from 'vitest'
import { epoch, otherShop, shop } from './fixtures.js'
import { carrier, direct, ensure, getEmail, insert, odd, own, rejected, within } from './identity-steps.js'
import type { StoreTest } from './subject.js'

/** A rejected share of the subject `old`. */
export const share = (changes: Partial<ShareRecord> = {}): ShareRecord => ({
  at: epoch,
  integrationAddress: shop,
  subjectId: 'old',
  outcome: 'rejected',
  externalUserId: `name ${odd}`,
  providerCode: 4_711,
  ...changes,
})
/** A verdict on the subject `old`. */
export const verdict = (changes: Partial<VerdictRecord> = {}): VerdictRecord => ({
  notedAt: epoch + 5,
  subjectId: 'old',
  applicantId: `applicant ${odd}`,
  source: 'webhook',
  change: 'review',
  at: epoch,
  review: rejected,
  outcome: 'applied',
  ...changes,
})
const none = { limit: 10, emailKey: getEmail(9).key }
export function identityLogTests(test: StoreTest): void {
  test('shares and verdicts are listed newest first, by address with its closed subjects', async ({ store }) => {
    const { identity } = store
    await ensure(store, 1, 'old')
    await own(store, 'old', { closed: true })
    await insert(store, carrier('new', 1, 'account'), carrier(odd, 2, 'account'), direct('direct', 'account'))
    const shares = [
      share(),
      share({ subjectId: 'new', outcome: 'concurrent', externalUserId: null, providerCode: null }),
      share({ subjectId: odd, integrationAddress: otherShop, at: 0 }),
    ]
    const verdicts = [
      verdict(),
      verdict({ subjectId: 'new', change: 'missing', source: 'poll', at: null, review: null, outcome: 'doubtful' }),
      verdict({ subjectId: odd }),
      verdict({ subjectId: 'direct', source: 'operator', outcome: 'surplus' }),
    ]
    await within(store, async (tx) => {
      for (const each of shares) await tx.logShare(each)
      for (const each of verdicts) await tx.recordVerdict(each)
    })
    expect(await identity.shares({ limit: 10 })).toStrictEqual(shares.toReversed())
    expect(await identity.shares({ limit: 1 })).toStrictEqual(shares.slice(2))
    const byAddress = { limit: 10, emailKey: getEmail(1).key }
    expect(await identity.shares(byAddress)).toStrictEqual([shares[1], shares[0]])
    expect(await identity.shares(none)).toEqual([])
    expect(await identity.verdicts({ limit: 10 })).toStrictEqual(verdicts.toReversed())
    expect(await identity.verdicts({ limit: 1 })).toStrictEqual(verdicts.slice(3))
    expect(await identity.verdicts(byAddress)).toStrictEqual([verdicts[1], verdicts[0]])
    expect(await identity.verdicts(none)).toEqual([])
  })

  test('an event that ten transactions record at once is recorded once', async ({ twoStores }) => {
    const [one, two] = await twoStores()
    const noted = Array.from({ length: 10 }, (_, n) =>
      within(n % 2 === 0 ? one : two, (tx) => tx.recordEvent(odd, epoch + n)),
    )
    expect((await Promise.all(noted)).filter(Boolean)).toHaveLength(1)
    expect(await within(one, (tx) => tx.recordEvent(`${odd} `, epoch))).toBe(true)
  })

  test('old events are deleted, up to a limit at a time, and newer ones stay', async ({ store }) => {
    const note = (n: number) => within(store, (tx) => tx.recordEvent(`event ${n}`, epoch + n))
    for (const n of [0, 1, 2, 3]) await note(n)
    const forgotten = () => store.identity.forgetEvents(epoch + 3, 2)
    expect([await forgotten(), await forgotten(), await forgotten()]).toEqual([2, 1, 0])
    expect([await note(2), await note(3)]).toEqual([true, false])
  })
}
