import { describe, expect, test } from 'vitest'
import { approved, begun, email, rejected, review, shareSetup, shop } from '../../test/support/share-setup.js'
import type { Review } from '../ports/identity-provider.js'
import { firstQuestionMs } from './question-times.js'

const day = 24 * 60 * 60_000
const pending = review('pending')

/** A verification that was shared, with a webhook at `after` milliseconds since. */
async function shared() {
  const setup = shareSetup()
  await setup.share()
  const start = setup.clock.now()
  const news = (given: Review | null, after: number, key?: string) =>
    setup.webhook(given, { at: start + after, ...(key === undefined ? {} : { key }) })
  const known = async () => (await setup.verification()).review
  return { ...setup, news, known, start }
}

describe('a webhook', () => {
  test('of an applicant of another level than its attempt asked for attaches nothing, as a look-up does', async () => {
    const { provider, share, verdicts, verification, redemptions, logger, clock, history } = shareSetup()
    provider.levelName = 'basic'
    provider.fault = () => 'lost after'
    await expect(share()).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
    const [externalUserId, applicantId] = ['pi:account-1:1', 'applicant of pi:account-1:1']
    const told = (levelName: string | null) => {
      const eventKey = `news of ${clock.now()}`
      return verdicts.apply({ applicantId, externalUserId, levelName, eventKey, at: clock.now(), review: approved })
    }
    expect(await told('strict')).toBe('unknown')
    expect(await verification()).toMatchObject({ applicantId: null, donor: null })
    expect([await redemptions(), await history()]).toEqual([[[externalUserId, shop, 'unknown']], []])
    expect(logger.lines.filter(({ level }) => level === 'error').map(({ fields }) => fields)).toEqual([
      { externalUserId, applicantId, misfit: 'level' },
    ])
    expect(await told('basic')).toBe('applied')
    expect(await verification()).toMatchObject({ applicantId, donor: shop, review: approved })
    // What is attached may be moved to another level at the provider.
    await clock.advance(1)
    expect(await told('strict')).toBe('applied')
  })

  test('is applied once', async () => {
    const { news, known } = await shared()
    expect(await news(pending, 1)).toBe('applied')
    expect(await news(approved, 2)).toBe('applied')
    expect(await news(pending, 1)).toBe('duplicate')
    expect(await news(approved, 2)).toBe('duplicate')
    expect(await known()).toEqual(approved)
  })

  test('may turn a verdict: RED after GREEN counts', async () => {
    const { news, share, known } = await shared()
    await news(approved, 1)
    expect(await news(rejected, 2)).toBe('applied')
    expect(await known()).toEqual(rejected)
    expect(await share()).toEqual({ ...begun, reused: true })
  })

  test('that is older than what is known changes nothing, and the provider is asked', async () => {
    const { news, known, verdicts, provider } = await shared()
    await news(approved, 10)
    expect(await news(pending, 9)).toBe('older')
    expect(await known()).toEqual(approved)
    provider.reviews.set('applicant of pi:account-1:1', rejected)
    expect(await verdicts.ask()).toBe(1)
    expect(await known()).toEqual(rejected)
  })

  test('of an applicant that nobody has is unknown, and so is one whose claim is over', async () => {
    const { webhook, verification, clock } = await shared()
    const before = await verification()
    expect(await webhook(approved, { name: 'pi:account-9:1', at: clock.now() + 1 })).toBe('unknown')
    expect(await verification()).toEqual(before)
  })

  test('of the applicant before the one that is attached changes nothing', async () => {
    const { news, share, webhook, known, clock } = await shared()
    await news(rejected, 1)
    await share()
    expect(await webhook(approved, { name: 'pi:account-1:1', at: clock.now() + 5 })).toBe('unknown')
    expect(await known()).toEqual(begun)
  })

  test('of an applicant that was never attached and is no more leaves the one before it', async () => {
    const { news, share, provider, webhook, verification, clock } = await shared()
    await news(rejected, 1)
    provider.fault = () => 'lost after'
    await expect(share()).rejects.toThrow()
    expect(await webhook(null, { name: 'pi:account-1:2', at: clock.now() + 5 })).toBe('unknown')
    expect(await verification()).toMatchObject({
      donor: shop,
      applicantId: 'applicant of pi:account-1:1',
      review: rejected,
    })
  })

  test('that turns a verdict into none has the provider asked at once', async () => {
    const { news, verdicts, provider, known } = await shared()
    await news(approved, 1)
    expect(await news(pending, 2)).toBe('applied')
    provider.reviews.set('applicant of pi:account-1:1', approved)
    expect(await verdicts.ask()).toBe(1)
    expect(await known()).toEqual(approved)
  })
})

test('six webhooks end alike in each of their 720 orders, two of them of one moment', async () => {
  const six = [
    [pending, 1],
    [review('onHold'), 2],
    [rejected, 3],
    [review('completed', 'RED', 'FINAL'), 5],
    [approved, 5],
    [review('prechecked'), 4],
  ] as const
  const ends = new Set<string>()
  for (const order of permutations(six)) {
    const { news, verification } = await shared()
    for (const [given, after] of order) await news(given, after, JSON.stringify([given, after]))
    const { review: known, reviewedAt } = await verification()
    ends.add(JSON.stringify([known, reviewedAt]))
  }
  expect([...ends]).toEqual([JSON.stringify([review('completed', 'RED', 'FINAL'), Date.UTC(2026, 0, 1) + 5])])
})

test('every order of fewer webhooks and their copies ends at the newest', async () => {
  const three = [
    [pending, 1],
    [approved, 2],
    [rejected, 3],
  ] as const
  for (const order of permutations([...three, ...three])) {
    const { news, known } = await shared()
    for (const [given, after] of order) await news(given, after)
    expect(await known()).toEqual(rejected)
  }
})

describe('the provider is asked', () => {
  test('when no webhook came, first after ten minutes and then every hour', async () => {
    const { verdicts, clock, provider, known } = await shared()
    await clock.advance(firstQuestionMs - 1)
    expect(await verdicts.ask()).toBe(0)
    await clock.advance(1)
    expect(await verdicts.ask()).toBe(1)
    expect(await verdicts.ask()).toBe(0)
    provider.reviews.set('applicant of pi:account-1:1', approved)
    await clock.advance(60 * 60_000)
    expect(await verdicts.ask()).toBe(1)
    expect(await known()).toEqual(approved)
  })

  test('once a day about a verdict, until it is thirty days old', async () => {
    const { verdicts, news, provider, clock } = await shared()
    provider.reviews.set('applicant of pi:account-1:1', approved)
    await news(approved, 0)
    let asked = 0
    for (let passed = 0; passed < 60; passed += 1) {
      await clock.advance(day)
      asked += await verdicts.ask()
    }
    expect(asked).toBe(30)
  })

  test.each(['lost before', 'throttled', 'misconfigured'] as const)(
    'again after a minute when it was %s, and nothing changes',
    async (fault) => {
      const { verdicts, clock, provider, known, logger } = await shared()
      await clock.advance(firstQuestionMs)
      provider.fault = () => fault
      expect(await verdicts.ask()).toBe(1)
      expect(await known()).toEqual(begun)
      expect(logger.lines.map(({ level }) => level)).toEqual(fault === 'misconfigured' ? ['error'] : [])
      provider.fault = () => null
      await clock.advance(59_999)
      expect(await verdicts.ask()).toBe(0)
      await clock.advance(1)
      expect(await verdicts.ask()).toBe(1)
    },
  )

  test('and what a webhook said while it answered stays', async () => {
    const { verdicts, clock, provider, webhook, known } = await shared()
    await clock.advance(firstQuestionMs)
    provider.pause = async (_, half) => {
      if (half === 'answer') await webhook(approved, { at: clock.now() + 1 })
    }
    await verdicts.ask()
    expect(await known()).toEqual(approved)
  })
})

test('RED RETRY, a fresh token, GREEN: the last share answers that it is approved', async () => {
  const { news, share, webhook, clock, shareOn, store } = await shared()
  await news(rejected, 1)
  await share()
  await webhook(approved, { name: 'pi:account-1:2', at: clock.now() + 2 })
  const answer = await shareOn(store)({ integrationAddress: shop, email, shareToken: 'left alone' })
  expect(answer).toEqual({ ...approved, reused: false })
})

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]]
  return items.flatMap((item, n) => permutations(items.toSpliced(n, 1)).map((rest) => [item, ...rest]))
}
