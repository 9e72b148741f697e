import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { createSumsubClient } from '../src/exports/service.js'
import { catchError, newToken, providerAnswering, serve, service, started, timeoutFor } from './support.js'

const { appToken, secretKey } = service
const redeem = { shareToken: 't', externalUserId: 'pi:1' }
const unknown = { outcomeUnknown: true, retryable: true }

describe('truncated, slow and foreign answers', () => {
  test.each([
    ['lost', 'ERR_PROVIDER_UNAVAILABLE'],
    ['cut-connection', 'ERR_PROVIDER_UNAVAILABLE'],
    ['hang', 'ERR_PROVIDER_UNAVAILABLE'],
    ['drip', 'ERR_PROVIDER_UNAVAILABLE'],
    ['cut-json', 'ERR_PROVIDER_ANSWER'],
    ['html', 'ERR_PROVIDER_ANSWER'],
    ['empty', 'ERR_PROVIDER_ANSWER'],
    ['huge', 'ERR_PROVIDER_ANSWER'],
    [500, 'ERR_PROVIDER_UNAVAILABLE'],
    [502, 'ERR_PROVIDER_UNAVAILABLE'],
  ] as const)('%s after a redemption leaves the outcome unknown, and looking up tells it', async (answer, code) => {
    const { local, provider } = await started()
    local.fail({ on: 'reuse', at: 'after', answer })
    const identity = provider({ timeoutMs: timeoutFor(answer) })
    const call = identity.redeem({ shareToken: newToken(local), externalUserId: 'pi:1' })
    expect(await catchError(call)).toMatchObject({ code, ...unknown })
    expect(await provider().find('pi:1')).toMatchObject({ applicantId: local.redemptions[0]?.applicantId })
  })

  test.each(['lost', 'html', 'empty', 'huge', 'cut-json', 'drip', 503] as const)(
    '%s is no verdict, for a review and for a look-up',
    async (answer) => {
      const { local, provider } = await started()
      const { id } = local.addApplicant({ clientId: 'ServiceCo', externalUserId: 'pi:1' })
      const identity = provider({ timeoutMs: timeoutFor(answer) })
      local.fail({ on: 'status', at: 'after', answer })
      local.fail({ on: 'find', at: 'after', answer })
      expect(await catchError(identity.review(id))).toMatchObject({ retryable: true })
      expect(await catchError(identity.find('pi:1'))).toMatchObject({ retryable: true })
      expect(await provider().review(id)).toMatchObject({ review: { reviewAnswer: 'GREEN' } })
    },
  )

  test.each([301, 302, 303, 307, 308])('%i is not followed: the other address gets no request', async (status) => {
    const canary = await serve((_, response) => response.end(JSON.stringify({ id: 'a1', externalUserId: 'pi:1' })))
    const provider = await providerAnswering(status, '', { Location: `${canary.baseUrl}/` })
    expect(await catchError(provider.redeem(redeem))).toMatchObject({ code: 'ERR_PROVIDER_ANSWER', status, ...unknown })
    expect(await catchError(provider.find('pi:1'))).toMatchObject({ code: 'ERR_PROVIDER_ANSWER', status })
    expect(canary.requests).toEqual([])
  })

  test('a compressed answer is rejected after a decompressed megabyte', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1_048_576, ' '))
    const { baseUrl } = await serve((_, response) =>
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' }).end(bomb),
    )
    const provider = createSumsubClient({ appToken, secretKey, levelName: 'basic', baseUrl, timeoutMs: 600_000 })
    expect(await catchError(provider.redeem(redeem))).toMatchObject({ code: 'ERR_PROVIDER_ANSWER' })
  })
})

test.each([
  ...['null', 'true', '1', '"a1"', '[]', '[{"id":"a1"}]', '{}', '{"id":""}', '{"id":1}', '{"id":null}'],
  ...['{"id":["a1"]}', '{"Id":"a1"}', '{"applicant":{"id":"a1"}}', '{"__proto__":{"id":"a1"}}', '{"id":"a1"'],
  `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
])('JSON that is not an applicant is rejected: %.40s', async (body) => {
  const provider = await providerAnswering(200, body)
  expect(await catchError(provider.redeem(redeem))).toMatchObject({ code: 'ERR_PROVIDER_ANSWER', ...unknown })
  expect(await catchError(provider.find('pi:1'))).toMatchObject({ code: 'ERR_PROVIDER_ANSWER' })
})

describe('a call ends early', () => {
  test("by an abort with the caller's reason, before and during the request", async () => {
    const { local, provider } = await started()
    local.fail({ on: 'reuse', at: 'before', answer: 'hang' })
    const reason = new Error('the server stops')
    const abort = new AbortController()
    const call = catchError(provider().redeem({ ...redeem, signal: abort.signal }))
    while (local.requests.length === 0) await new Promise((passed) => setImmediate(passed))
    abort.abort(reason)
    expect(await call).toBe(reason)
    expect(await catchError(provider().find('pi:1', abort.signal))).toBe(reason)
    expect(await catchError(provider().review('a1', abort.signal))).toBe(reason)
  })

  test('by the timeout with an unknown outcome, even with a signal of the caller', async () => {
    const { local, provider } = await started()
    local.fail({ on: 'reuse', at: 'after', answer: 'hang' })
    const { signal } = new AbortController()
    const call = provider({ timeoutMs: 100 }).redeem({ shareToken: newToken(local), externalUserId: 'pi:1', signal })
    expect(await catchError(call)).toMatchObject({ code: 'ERR_PROVIDER_UNAVAILABLE', status: null, ...unknown })
  })
})
