import { expect, test } from 'vitest'
import { turns } from '../../test/support/manual-clock.js'
import { email, otherShop, rejected, review, shareSetup, shop } from '../../test/support/share-setup.js'
import { type SteppedProcess, steppedProcess } from '../../test/support/stepped-process.js'
import { claimLeaseMs } from './claim-times.js'

type Setup = ReturnType<typeof shareSetup>
const first = 'pi:account-1:1'
const input = { integrationAddress: shop, email, shareToken: 'dying' }

/** Leaves a lapsed claim of the other shop. */
async function lapse(setup: Setup, fault: 'lost before' | 'lost after'): Promise<void> {
  setup.provider.fault = () => fault
  await expect(setup.share(otherShop, 'before')).rejects.toThrow()
  setup.provider.fault = () => null
  await setup.clock.advance(claimLeaseMs)
}

async function reject(setup: Setup): Promise<void> {
  await setup.share(shop, 'before')
  setup.provider.reviews.set(`applicant of ${first}`, rejected)
  await setup.webhook(rejected)
}

const webhookOfFirst = {
  ...{ eventKey: 'event', applicantId: `applicant of ${first}`, externalUserId: first },
  ...{ at: Date.UTC(2026, 0, 2), review: review('pending') },
}

/** What was before, what the process does that dies, who asks in the end, and what must have been redeemed then. */
const paths: readonly [
  name: string,
  before: (setup: Setup) => Promise<void>,
  dies: (process: SteppedProcess) => Promise<unknown>,
  asks: string,
  redeemed: readonly RegExp[],
  least: number,
][] = [
  ['a first share', async () => undefined, ({ share }) => share(input), shop, [/dying|healthy/], 8],
  [
    'a take-over of what never arrived',
    (setup) => lapse(setup, 'lost before'),
    ({ share }) => share(input),
    shop,
    [/dying|healthy/],
    12,
  ],
  [
    'a take-over of what was redeemed for another',
    (setup) => lapse(setup, 'lost after'),
    ({ share }) => share(input),
    otherShop,
    [/before/],
    8,
  ],
  ['a retry after RED', reject, ({ share }) => share(input), shop, [/before/, /dying|healthy/], 8],
  [
    'a poll that looks up what was redeemed',
    (setup) => lapse(setup, 'lost after'),
    ({ verdicts }) => verdicts.ask(),
    otherShop,
    [/before/],
    6,
  ],
  [
    'a poll that looks up what never arrived',
    (setup) => lapse(setup, 'lost before'),
    ({ verdicts }) => verdicts.ask(),
    shop,
    [/healthy/],
    6,
  ],
  [
    'a webhook that attaches',
    (setup) => lapse(setup, 'lost after'),
    ({ verdicts }) => verdicts.apply(webhookOfFirst),
    otherShop,
    [/before/],
    2,
  ],
]

test.each(paths)(
  'killed at each await point of %s: what is redeemed is redeemed once, and is not lost',
  async (...path) => {
    const [, before, dies, asks, redeemed, least] = path
    for (const how of ['a request', 'the poll, and a request', 'a webhook, and a request'])
      for (let point = 1; ; point += 1) {
        const setup = shareSetup()
        const { provider, clock, verification, verdicts, share } = setup
        await before(setup)
        const process = steppedProcess(setup, point)
        await Promise.race([dies(process).catch(() => undefined), turns().then(turns)])
        const where = `${how}, point ${point}, ${process.stoppedAt()}`
        if (process.stoppedAt() === null) {
          expect(point, 'await points').toBeGreaterThan(least)
          break
        }
        await clock.advance(claimLeaseMs)
        if (how.startsWith('the poll')) await verdicts.ask()
        const known = provider.redeemed.at(-1)
        if (how.startsWith('a webhook') && known !== undefined && !provider.reviews.has(known.applicantId))
          await verdicts.apply({ ...webhookOfFirst, ...known })
        for (let tries = 0; tries < 2; tries += 1) await share(asks, `healthy ${tries}`).catch(() => undefined)
        expect(provider.redeemed, where).toHaveLength(redeemed.length)
        for (const [n, token] of redeemed.entries()) expect(provider.redeemed[n]?.shareToken, where).toMatch(token)
        const newest = provider.redeemed.at(-1)
        const donor = newest?.shareToken === 'before' && redeemed.length === 1 ? otherShop : shop
        expect(await verification(), where).toMatchObject({ donor, applicantId: newest?.applicantId, claim: null })
        expect(provider.mostInFlight(), where).toBe(1)
      }
  },
)
