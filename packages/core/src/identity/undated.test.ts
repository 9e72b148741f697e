import { describe, expect, test } from 'vitest'
import { approved, rejected, review, shareSetup } from '../../test/support/share-setup.js'
import { againMs, firstQuestionMs } from './question-times.js'

const applicantId = 'applicant of pi:account-1:1'

/** A share whose answer carried a verdict, with the provider's time of it or without. */
async function sharedAs(given: ReturnType<typeof review>, reviewedAt: number | null = null) {
  const setup = shareSetup()
  setup.provider.reviews.set(applicantId, given)
  if (reviewedAt !== null) setup.provider.reviewedAt.set(applicantId, reviewedAt)
  await setup.share()
  const known = async () => {
    const { review: stands, reviewedAt: at } = await setup.verification()
    return [stands, at]
  }
  const say = (then: ReturnType<typeof review>, at?: number) => {
    setup.provider.reviews.set(applicantId, then)
    if (at === undefined) setup.provider.reviewedAt.delete(applicantId)
    else setup.provider.reviewedAt.set(applicantId, at)
  }
  return { ...setup, known, say, start: setup.clock.now() }
}

describe('a verdict that came without a time', () => {
  test('is asked about at once, and keeps the time of the answer', async () => {
    const { verdicts, known, start, say } = await sharedAs(approved)
    expect(await known()).toEqual([approved, null])
    say(approved, start - 5_000)
    expect(await verdicts.ask()).toBe(1)
    expect(await known()).toEqual([approved, start - 5_000])
    expect(await verdicts.ask()).toBe(0)
  })

  test('is not asked about at once when it is none, or has a time', async () => {
    const onTheWay = await sharedAs(review('pending'))
    expect(await onTheWay.verdicts.ask()).toBe(0)
    const dated = await sharedAs(approved, 1_000)
    expect(await dated.known()).toEqual([approved, 1_000])
    expect(await dated.verdicts.ask()).toBe(0)
    await dated.clock.advance(firstQuestionMs)
    expect(await dated.verdicts.ask()).toBe(1)
  })

  test('of RED is not turned into GREEN by a webhook: the provider is asked', async () => {
    const { webhook, verdicts, known, start, say, history } = await sharedAs(rejected)
    say(rejected, start)
    // The GREEN before the RED, that was late.
    expect(await webhook(approved, { at: start - 1 })).toBe('doubtful')
    expect(await known()).toEqual([rejected, null])
    expect(await verdicts.ask()).toBe(1)
    expect(await known()).toEqual([rejected, start])
    expect(await history()).toEqual(['redemption review applied', 'webhook review doubtful'])
  })

  test('of GREEN is turned into RED by a webhook at once', async () => {
    const { webhook, known, start } = await sharedAs(approved)
    expect(await webhook(rejected, { at: start - 1 })).toBe('applied')
    expect(await known()).toEqual([rejected, start - 1])
  })
})

describe('an answer to a question', () => {
  test('turns RED into GREEN by the time of a newer verdict', async () => {
    const { verdicts, known, start, say, clock } = await sharedAs(rejected, 1_000)
    await clock.advance(firstQuestionMs)
    say(approved, start)
    await verdicts.ask()
    expect(await known()).toEqual([approved, start])
  })

  test.each([
    ['without a time', undefined],
    ['of the same time', 1_000],
    ['of an older time', 999],
  ])('%s turns RED into GREEN when it is said twice, a minute apart', async (_, at) => {
    const { verdicts, known, say, clock, history, verification } = await sharedAs(rejected, 1_000)
    await clock.advance(firstQuestionMs)
    say(approved, at)
    expect(await verdicts.ask()).toBe(1)
    expect(await known()).toEqual([rejected, 1_000])
    expect((await verification()).doubt).toEqual(approved)
    expect(await verdicts.ask()).toBe(0)
    await clock.advance(againMs)
    expect(await verdicts.ask()).toBe(1)
    expect((await known())[0]).toEqual(approved)
    expect((await verification()).doubt).toBeNull()
    expect((await history()).slice(1)).toEqual(['question review doubtful', 'question review applied'])
  })

  test('that was doubtful and is taken back changes nothing', async () => {
    const { verdicts, known, say, clock, verification } = await sharedAs(rejected, 1_000)
    await clock.advance(firstQuestionMs)
    say(approved)
    await verdicts.ask()
    say(rejected, 1_000)
    await clock.advance(againMs)
    await verdicts.ask()
    expect(await known()).toEqual([rejected, 1_000])
    expect((await verification()).doubt).toBeNull()
  })

  test('turns GREEN into RED whatever its time', async () => {
    const { verdicts, known, say, clock, start } = await sharedAs(approved, start2026)
    await clock.advance(firstQuestionMs)
    say(rejected, start2026 - 1)
    await verdicts.ask()
    expect(await known()).toEqual([rejected, start2026])
    expect(start).toBe(start2026)
  })

  test("keeps the provider's time, so that a webhook of a moment later counts whatever our own clock says", async () => {
    const { verdicts, known, say, clock, start, webhook } = await sharedAs(review('pending'))
    await clock.advance(firstQuestionMs)
    say(approved, start + 1_000)
    await verdicts.ask()
    expect(await webhook(rejected, { at: start + 1_500 })).toBe('applied')
    expect(await known()).toEqual([rejected, start + 1_500])
  })
})

const start2026 = Date.UTC(2026, 0, 1)

describe('a round of questions', () => {
  async function many(count: number) {
    const setup = shareSetup()
    for (let n = 1; n <= count; n += 1) await setup.shareFor(`user${n}@example.com`)
    await setup.clock.advance(firstQuestionMs)
    const asked = () => setup.provider.calls.filter((call) => call.startsWith('review')).length
    return { ...setup, asked }
  }

  test('ends with the first 429, and the others stay due', async () => {
    const { verdicts, provider, asked } = await many(5)
    let calls = 0
    provider.fault = () => (++calls === 2 ? 'throttled' : null)
    expect(await verdicts.ask()).toBe(2)
    expect(asked()).toBe(2)
    expect(await verdicts.ask()).toBe(3)
  })

  test('ends when the service stops, after the question that is under way', async () => {
    const { verdicts, provider, asked } = await many(5)
    const stopping = new AbortController()
    provider.pause = async () => {
      if (asked() === 2) stopping.abort()
    }
    expect(await verdicts.ask(50, stopping.signal)).toBe(2)
    expect(await verdicts.ask(50, stopping.signal)).toBe(0)
    expect(asked()).toBe(2)
  })

  test('forgets events that are forty days old, and none before', async () => {
    const { verdicts, webhook, store, clock } = await many(1)
    await webhook(approved, { at: clock.now() })
    const day = 24 * 60 * 60_000
    await clock.advance(40 * day)
    await verdicts.ask()
    expect(store.committed().providerEvents.size).toBe(1)
    await clock.advance(1)
    await verdicts.ask()
    expect(store.committed().providerEvents.size).toBe(0)
    // What is sent again then is as old as what is known: it counts no second time for another state.
    expect(await webhook(rejected, { at: clock.now() - 41 * day, key: 'replayed' })).toBe('older')
  })
})
