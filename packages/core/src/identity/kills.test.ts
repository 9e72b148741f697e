/** docs/decisions/identity.md: after a kill at any await a token is redeemed once, and its applicant is not lost. */
import { describe, expect, test } from 'vitest'
import {
  approved,
  email,
  first,
  identitySetup,
  otherShop,
  rejected,
  review,
  shop,
} from '../../test/support/identity-setup.js'
import { turns } from '../../test/support/manual-clock.js'
import { type SteppedProcess, steppedProcess } from '../../test/support/stepped-process.js'

type Setup = ReturnType<typeof identitySetup>
const input = { integrationAddress: shop, email, shareToken: 'dying' }
const share = ({ identity }: SteppedProcess) => identity.share(input)
const poll = ({ identity }: SteppedProcess) => identity.pollDue()
const verdict = {
  ...{ eventKey: 'event', applicantId: `applicant of ${first}`, externalUserId: first },
  ...{ at: Date.UTC(2026, 0, 2), review: review('pending') },
}
const report = ({ identity }: SteppedProcess) => identity.applyVerdict({ ...verdict, at: Date.UTC(2026, 0, 1) })

async function lostBefore(setup: Setup, fault: 'lost before' | 'lost after') {
  await setup.lose(fault, otherShop)
  await setup.expire()
}
async function rejectedOnce(setup: Setup) {
  await setup.share(shop, 'before')
  setup.provider.reviews.set(`applicant of ${first}`, rejected)
  await setup.webhook(rejected)
}

interface Path {
  readonly name: string
  readonly prepare: (setup: Setup) => Promise<unknown>
  readonly dies: (process: SteppedProcess) => Promise<unknown>
  /** The final share. */
  readonly asks: string
  /** The tokens that must have been redeemed then. */
  readonly redeemed: readonly RegExp[]
}
const paths: readonly Path[] = [
  { name: 'a first share', prepare: async () => 0, dies: share, asks: shop, redeemed: [/dying|healthy/] },
  {
    name: 'a share after a lost answer whose token never arrived',
    prepare: (setup) => lostBefore(setup, 'lost before'),
    ...{ dies: share, asks: shop, redeemed: [/dying|healthy/] },
  },
  {
    name: 'a share after a lost answer whose token was redeemed',
    prepare: (setup) => lostBefore(setup, 'lost after'),
    ...{ dies: share, asks: otherShop, redeemed: [/canary/] },
  },
  {
    name: 'a retry after RED',
    ...{ prepare: rejectedOnce, dies: share, asks: shop, redeemed: [/before/, /dying|healthy/] },
  },
  {
    name: 'a poll that looks up a redeemed token',
    prepare: (setup) => lostBefore(setup, 'lost after'),
    ...{ dies: poll, asks: otherShop, redeemed: [/canary/] },
  },
  {
    name: 'a poll that looks up a token that never arrived',
    prepare: (setup) => lostBefore(setup, 'lost before'),
    ...{ dies: poll, asks: shop, redeemed: [/healthy/] },
  },
  {
    name: 'a webhook that attaches',
    prepare: (setup) => lostBefore(setup, 'lost after'),
    ...{ dies: report, asks: otherShop, redeemed: [/canary/] },
  },
]

describe.each(paths)('killed at each await of $name', ({ prepare, dies, asks, redeemed }) => {
  test.each(['a request', 'the poll, and a request'])('%s finds the redeemed applicant, once', async (how) => {
    for (let point = 1; ; point += 1) {
      const setup = identitySetup()
      const { provider, identity, expire, subjectOf, states } = setup
      await prepare(setup)
      const process = steppedProcess(setup, point)
      await Promise.race([dies(process).catch(() => undefined), turns().then(turns)])
      const where = `point ${point}, ${process.stoppedAt()}`
      if (process.stoppedAt() === null) {
        expect(point, 'awaits').toBeGreaterThan(2)
        break
      }
      await expire()
      if (how.startsWith('the poll')) await identity.pollDue()
      for (let tries = 0; tries < 2; tries += 1)
        await identity.share({ integrationAddress: asks, email, shareToken: `healthy ${tries}` }).catch(() => undefined)
      expect(provider.redeemed, where).toHaveLength(redeemed.length)
      for (const [n, token] of redeemed.entries()) expect(provider.redeemed[n]?.shareToken, where).toMatch(token)
      const newest = provider.redeemed.at(-1)
      const donor = newest?.shareToken.startsWith('canary') ? otherShop : shop
      expect(await subjectOf(), where).toMatchObject({ donor, applicantId: newest?.applicantId })
      expect(
        states().filter((state) => state === 'in_flight' || state === 'unknown'),
        where,
      ).toEqual([])
      expect(provider.mostInFlight(), where).toBe(1)
    }
  })

  test('a process that resumes later redeems nothing', async () => {
    for (let point = 1; ; point += 1) {
      const setup = identitySetup()
      const { provider, identity, expire } = setup
      await prepare(setup)
      const process = steppedProcess(setup, point)
      await Promise.race([dies(process).catch(() => undefined), turns().then(turns)])
      const where = `point ${point}, ${process.stoppedAt()}`
      if (process.stoppedAt() === null) break
      await expire()
      for (let tries = 0; tries < 2; tries += 1)
        await identity.share({ integrationAddress: asks, email, shareToken: `healthy ${tries}` }).catch(() => undefined)
      const tokens = provider.redeemed.length
      process.thaw()
      await turns()
      expect(provider.redeemed, where).toHaveLength(tokens)
      expect(provider.mostInFlight(), where).toBe(1)
    }
  })
})

describe('killed at each await of a proof', () => {
  test.each(['of a placeholder', 'that closes one subject and transfers another'])(
    '%s: all of its changes are stored, or none',
    async (what) => {
      for (let point = 1; ; point += 1) {
        const setup = identitySetup()
        const { identity, register, proveAs, webhook, share, shareFor, subjectOf, has, memory } = setup
        await share()
        await webhook(approved)
        const accountId = await register('carried@example.com')
        await shareFor('carried@example.com')
        if (what !== 'of a placeholder') await proveAs(accountId, 'proved@example.com')
        const { code } = await (await identity.accounts()).requestCode(email)
        const process = steppedProcess(setup, point)
        const accounts = await process.identity.accounts()
        await Promise.race([accounts.proveByCode(email, code, { accountId }), turns().then(turns)])
        if (process.stoppedAt() === null) {
          expect(point).toBeGreaterThan(2)
          break
        }
        const where = `point ${point}, ${process.stoppedAt()}`
        const isGiven = has(accountId).includes(`applicant of ${first}`)
        const carried = await subjectOf('carried@example.com')
        expect(carried.accountId === accountId, where).toBe(!isGiven && what === 'of a placeholder')
        expect(
          memory.committed.accounts.some((each) => each.accountId === accountId && each.verified),
          where,
        ).toBe(isGiven || what !== 'of a placeholder')
        // Before it happened the code is good still.
        if (!isGiven) await (await identity.accounts()).proveByCode(email, code, { accountId })
        expect(has(accountId), where).toContain(`applicant of ${first}`)
        expect(await share(), where).toEqual({ ...approved, reused: false })
      }
    },
  )
})
