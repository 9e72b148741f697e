import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createSumsubClient } from '../src/exports/service.js'
import { catchError, newToken, providerAnswering, serve, started } from './support.js'

const inFlight = { reviewAnswer: null, rejectType: null, rejectLabels: [] }

describe('redeeming by reuse', () => {
  test('with every step covered answers a pending applicant, and review and look-up show the verdict', async () => {
    const { local, clock, provider } = await started()
    const identity = provider()
    const applicant = await identity.redeem({ shareToken: newToken(local), externalUserId: 'pi:1' })
    const { applicantId } = applicant
    expect(applicant).toEqual({
      applicantId: local.redemptions[0]?.applicantId,
      externalUserId: 'pi:1',
      levelName: 'basic',
      createdAt: clock.now(),
      review: { reviewStatus: 'pending', ...inFlight },
      reviewedAt: null,
    })
    expect(await identity.find('pi:1')).toEqual(applicant)
    clock.advance(60_500)
    local.approve(applicantId)
    // The provider's times of verdicts have whole seconds.
    const reviewedAt = clock.now() - 500
    const green = { reviewStatus: 'completed', reviewAnswer: 'GREEN', rejectType: null, rejectLabels: [] }
    expect(await identity.review(applicantId)).toEqual({ levelName: 'basic', review: green, reviewedAt })
    expect(await identity.find('pi:1')).toEqual({ ...applicant, review: green, reviewedAt })
    local.reject(applicantId, { labels: ['FORGERY', 'SELFIE_MISMATCH'], rejectType: 'FINAL' })
    const rejectLabels = ['FORGERY', 'SELFIE_MISMATCH']
    const red = { reviewStatus: 'completed', reviewAnswer: 'RED', rejectType: 'FINAL', rejectLabels }
    expect(await identity.review(applicantId)).toEqual({ levelName: 'basic', review: red, reviewedAt })
  })

  test('with some steps covered answers init', async () => {
    const { local, provider } = await started()
    const call = provider({ levelName: 'strict' }).redeem({ shareToken: newToken(local), externalUserId: 'pi:1' })
    expect((await call).review).toEqual({ reviewStatus: 'init', ...inFlight })
  })

  test('an answer without a review leaves it open', async () => {
    const { local, provider } = await started({ showsReview: false })
    const applicant = await provider().redeem({ shareToken: newToken(local), externalUserId: 'pi:1' })
    expect(applicant.review).toBeNull()
    expect(await provider().review(applicant.applicantId)).toMatchObject({ review: { reviewStatus: 'pending' } })
  })

  test.each([
    ['used before', 'basic', 0],
    ['expired', 'basic', 1_200_000],
    ['of a level with no step in common', 'other', 0],
  ])('a token %s is rejected, and nothing is redeemed', async (how, levelName, pass) => {
    const { local, clock, provider } = await started()
    const shareToken = newToken(local)
    if (how === 'used before') await provider().redeem({ shareToken, externalUserId: 'pi:0' })
    const before = local.redemptions.length
    clock.advance(pass)
    const error = await catchError(provider({ levelName }).redeem({ shareToken, externalUserId: 'pi:1' }))
    expect(error).toMatchObject({ code: 'ERR_PROVIDER_TOKEN_REJECTED', outcomeUnknown: false })
    expect(local.redemptions).toHaveLength(before)
    expect(await provider().find('pi:1')).toBeNull()
  })

  test.each([
    ['a plain one', '_act-374dc16e-4c7e-4e50-a621-ed76a0dd68fb-v2'],
    ['one of 1 KB', 'x'.repeat(1_024)],
    ['one of characters that a query must escape', 'a+b/c=d&e?f#g%41 é\'"<>\u0000\n🔑'],
    ['one of digits', '0'],
  ])('%s is sent unchanged', async (_, shareToken) => {
    let redeemed: URLSearchParams | undefined
    const { baseUrl } = await serve((request, response) => {
      redeemed = new URL(request.url ?? '', 'http://x').searchParams
      response.end(JSON.stringify({ id: 'a1', externalUserId: 'pi:1' }))
    })
    const provider = createSumsubClient({ appToken: 'a', secretKey: 's', levelName: 'id & liveness', baseUrl })
    await provider.redeem({ shareToken, externalUserId: 'pi:1' })
    expect(Object.fromEntries(redeemed ?? [])).toEqual({ shareToken, levelName: 'id & liveness', userId: 'pi:1' })
  })

  test('an applicant with another name than the given one is rejected, also by a look-up', async () => {
    const provider = await providerAnswering(200, { id: 'a1', externalUserId: 'pi:2' })
    const error = await catchError(provider.redeem({ shareToken: 't', externalUserId: 'pi:1' }))
    expect(error).toMatchObject({ code: 'ERR_PROVIDER_ANSWER', outcomeUnknown: true })
    expect(await catchError(provider.find('pi:1'))).toMatchObject({ code: 'ERR_PROVIDER_ANSWER' })
  })

  test('for a taken name the outcome is unknown, because an earlier redemption of ours may have taken it', async () => {
    const { local, provider } = await started()
    await provider().redeem({ shareToken: newToken(local), externalUserId: 'pi:1' })
    const error = await catchError(provider().redeem({ shareToken: newToken(local), externalUserId: 'pi:1' }))
    expect(error).toMatchObject({ code: 'ERR_PROVIDER_ANSWER', outcomeUnknown: true, status: 409 })
    expect(local.redemptions).toHaveLength(1)
  })
})

test('redeeming by import answers an applicant that the provider named', async () => {
  const { local, provider } = await started()
  const identity = provider({ redeemBy: 'import' })
  const applicant = await identity.redeem({ shareToken: newToken(local), externalUserId: 'pi:1' })
  const applicantId = local.redemptions[0]?.applicantId
  expect(applicant).toMatchObject({ applicantId, review: { reviewStatus: 'init' } })
  expect(applicant.externalUserId).toMatch(/^copy-/)
  expect(local.redemptions).toMatchObject([{ by: 'import' }])
})

describe('a redemption with a deadline', () => {
  test('is sent in its last millisecond, and not in the next', async () => {
    const { local, clock, provider } = await started()
    const redeem = (externalUserId: string, sendBy: number) =>
      provider().redeem({ shareToken: newToken(local), externalUserId, sendBy })
    expect(await redeem('pi:1', clock.now())).toMatchObject({ externalUserId: 'pi:1' })
    const sent = local.requests.length
    const late = { code: 'ERR_PROVIDER_LATE', outcomeUnknown: false, retryable: true }
    expect(await catchError(redeem('pi:2', clock.now() - 1))).toMatchObject(late)
    expect(await catchError(redeem('pi:3', Number.NaN))).toMatchObject({ code: 'ERR_PROVIDER_LATE' })
    expect(local.requests).toHaveLength(sent)
  })

  test.each([
    ["within the provider's minute is carried out", 60_000, 1],
    ['after it is rejected, and nothing is redeemed', 61_000, 0],
  ])('that was signed in time and arrives %s', async (_, delayMs, redeemed) => {
    const { local, clock, provider } = await started()
    const suspended = provider({
      // Simulates a process suspended between the signature and the first byte.
      fetch: (input, init) => {
        clock.advance(delayMs)
        return fetch(input, init)
      },
    })
    const call = suspended.redeem({ shareToken: newToken(local), externalUserId: 'pi:1', sendBy: clock.now() })
    const outcome = await call.then(
      () => 'redeemed',
      (error: { code: string }) => error.code,
    )
    expect(outcome).toBe(redeemed === 1 ? 'redeemed' : 'ERR_PROVIDER_SETUP')
    expect(local.redemptions).toHaveLength(redeemed)
  })
})

test('levelName and findsByName depend on the endpoint', async () => {
  const { provider } = await started()
  expect(provider()).toMatchObject({ levelName: 'basic', findsByName: true })
  expect(provider({ redeemBy: 'import' })).toMatchObject({ levelName: null, findsByName: false })
})

test('the signed bytes are the sent bytes, for any name and token', async () => {
  const { local, provider } = await started()
  const identity = provider()
  const part = fc.constantFrom(..."./%;?#\\+ \t\n@:&='", '%2e')
  const parts = fc.array(part, { minLength: 1 }).map((all) => all.join(''))
  const text = fc.oneof(fc.string({ unit: 'binary', minLength: 1 }), parts)
  await fc.assert(
    fc.asyncProperty(text, async (any) => {
      expect(await identity.find(any)).toBeNull()
      const error = await catchError(identity.redeem({ shareToken: any, externalUserId: any }))
      expect(error).toMatchObject({ code: 'ERR_PROVIDER_TOKEN_REJECTED' })
    }),
    { numRuns: 100 },
  )
  expect(local.requests).toHaveLength(200)
})

describe('looking up', () => {
  test.each(['pi:1', 'a/b?c#d', 'a;b=c', '%2e%2e', '..', "é '🔑"])(
    'finds an applicant named %j',
    async (externalUserId) => {
      const { local, provider } = await started()
      const { id } = local.addApplicant({ clientId: 'ServiceCo', externalUserId })
      expect(await provider().find(externalUserId)).toMatchObject({ applicantId: id, externalUserId })
    },
  )

  test('an unknown and a deleted applicant are null, for a review and for a look-up', async () => {
    const { local, provider } = await started()
    const { id } = local.addApplicant({ clientId: 'ServiceCo', externalUserId: 'pi:1' })
    expect(await provider().find('pi:2')).toBeNull()
    expect(await provider().review('none')).toBeNull()
    local.deleteApplicant(id)
    expect(await provider().find('pi:1')).toBeNull()
    expect(await provider().review(id)).toBeNull()
  })

  test.each([
    ['a page of a gateway', '<h1>404</h1>'],
    ['an empty body', ''],
    ['foreign JSON', { message: 'no Route matched' }],
  ])('a 404 with %s is no proof of a missing applicant', async (_, body) => {
    const provider = await providerAnswering(404, body)
    expect(await catchError(provider.find('pi:1'))).toMatchObject({ code: 'ERR_PROVIDER_SETUP' })
    expect(await catchError(provider.review('a1'))).toMatchObject({ code: 'ERR_PROVIDER_SETUP' })
  })

  test.each(['.', '..'])('an id %j that is a path is rejected before any request', async (applicantId) => {
    const green = { reviewStatus: 'completed', reviewResult: { reviewAnswer: 'GREEN' } }
    const provider = await providerAnswering(200, green)
    expect(await catchError(provider.review(applicantId))).toBeInstanceOf(TypeError)
    expect(provider.requests).toEqual([])
  })
})
