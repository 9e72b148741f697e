import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type ApplicantEvent, createWebhookReader } from '../src/exports/service.js'
import type { RawWebhook } from '../src/webhook-reader.js'
import { catchError, serve, started } from './support.js'

const secret = 'canary-webhook-secret-42'
const read = createWebhookReader({ secret })
const base = {
  ...{ applicantId: '5cb744200a975a67ed1798a4', correlationId: 'req-1', externalUserId: 'pi:1' },
  ...{ type: 'applicantReviewed', reviewStatus: 'completed', reviewResult: { reviewAnswer: 'GREEN' } },
  createdAtMs: '2020-02-21 13:23:19.321',
}

/** A webhook as the provider signs it. */
function signed(body: string | Uint8Array | object, by = secret): RawWebhook {
  const bytes =
    body instanceof Uint8Array ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body), 'utf8')
  const digest = createHmac('sha256', by).update(bytes).digest('hex')
  return { body: bytes, digest, algorithm: 'HMAC_SHA256_HEX' }
}

/** The parsed event with these fields changed; undefined removes one. */
async function makeEvent(change: Readonly<Record<string, unknown>>): Promise<ApplicantEvent> {
  const event = await read(signed({ ...base, ...change }))
  if (event.kind !== 'applicant') throw new Error(`expected an applicant's event, got ${event.kind}`)
  return event
}

describe('the digest', () => {
  test.each([
    ['no digest', { digest: null }, 'UNSIGNED'],
    ['no algorithm', { algorithm: null }, 'UNSIGNED'],
    ['neither', { digest: null, algorithm: null }, 'UNSIGNED'],
    ['an empty algorithm', { algorithm: '' }, 'UNSIGNED'],
    ['the algorithm none', { algorithm: 'none' }, 'UNSIGNED'],
    ['an algorithm in lower case', { algorithm: 'hmac_sha256_hex' }, 'UNSIGNED'],
    ['an algorithm named like a method of every object', { algorithm: 'toString' }, 'UNSIGNED'],
    ['two algorithms', { algorithm: 'HMAC_SHA256_HEX, HMAC_SHA512_HEX' }, 'UNSIGNED'],
    ['the name of the longer algorithm', { algorithm: 'HMAC_SHA512_HEX' }, 'FORGED'],
    ['an empty digest', { digest: '' }, 'FORGED'],
    ['half of the digest', { digest: signed(base).digest?.slice(0, 32) ?? '' }, 'FORGED'],
    ['the digest in upper case', { digest: signed(base).digest?.toUpperCase() ?? '' }, 'FORGED'],
    ['the digest twice', { digest: `${signed(base).digest}${signed(base).digest}` }, 'FORGED'],
    ['the digest with a blank', { digest: ` ${signed(base).digest}` }, 'FORGED'],
    ['a digest that is not hex', { digest: 'g'.repeat(64) }, 'FORGED'],
    ['a digest of other digits', { digest: '٠'.repeat(64) }, 'FORGED'],
    ['the digest of another secret', { digest: signed(base, 'other').digest }, 'FORGED'],
    ['the digest of an empty secret', { digest: createHmac('sha256', '').update('x').digest('hex') }, 'FORGED'],
  ])('%s is rejected', async (_, change, code) => {
    const error = await catchError(read({ ...signed(base), ...change }))
    expect(error).toMatchObject({ name: 'WebhookRejectedError', code: `ERR_PROVIDER_WEBHOOK_${code}` })
  })

  test('during a rotation both secrets are accepted, and no third', async () => {
    const both = createWebhookReader({ secret: ['new', 'old'] })
    for (const by of ['new', 'old']) expect(await both(signed(base, by))).toMatchObject({ kind: 'applicant' })
    expect(await catchError(both(signed(base, 'newold')))).toMatchObject({ code: 'ERR_PROVIDER_WEBHOOK_FORGED' })
  })

  test.each([['', ' ', []], ['\t'], [['a', '']], [undefined], [[undefined]], [' a']].flat(1))(
    'the secret %j is a TypeError',
    (value) => expect(() => createWebhookReader({ secret: value as string })).toThrow(TypeError),
  )
})

describe('the body', () => {
  test.each([
    ['an empty body', ''],
    ['cut JSON', '{"applicantId":'],
    ['a list', '[]'],
    ['a text', '"applicantReviewed"'],
    ['null', 'null'],
    ['33 levels', JSON.stringify({ ...base, a: JSON.parse('['.repeat(32) + ']'.repeat(32)) })],
    ['bytes that are not UTF-8', new Uint8Array([0x7b, 0xff, 0x7d])],
  ])('%s is malformed', async (_, body) => {
    expect(await catchError(read(signed(body)))).toMatchObject({ code: 'ERR_PROVIDER_WEBHOOK_MALFORMED' })
  })

  test('that begins with a byte order mark is malformed, and the message says so', async () => {
    expect(await catchError(read(signed(`\ufeff${JSON.stringify(base)}`)))).toMatchObject({
      code: 'ERR_PROVIDER_WEBHOOK_MALFORMED',
      message: 'Body begins with a byte order mark; send UTF-8 without it',
    })
  })

  test.each([
    ['no applicant', { applicantId: undefined }],
    ['an empty applicant id', { applicantId: '' }],
    ['an applicant that is a number', { applicantId: 1 }],
    ['no time', { createdAtMs: undefined }],
    ['a malformed time', { createdAtMs: 'yesterday' }],
    ['a time that is a number', { createdAtMs: 1_582_291_399_321 }],
    ['a 13th month', { createdAtMs: '2020-13-21 13:23:19.321' }],
    ['a zone that is not UTC', { createdAtMs: '2020-02-21 13:23:19.321+0300' }],
  ])('an applicant event with %s is malformed', async (_, change) => {
    expect(await catchError(makeEvent(change))).toMatchObject({ code: 'ERR_PROVIDER_WEBHOOK_MALFORMED' })
  })

  test('any signed JSON is parsed or rejected as malformed, and only completed with GREEN approves', async () => {
    const types = fc.constantFrom('applicantReviewed', 'applicantPending', 'applicantReset', 'applicantDeleted', 'x')
    const fields = {
      type: fc.oneof(types, fc.jsonValue()),
      applicantId: fc.oneof(fc.constant('a1'), fc.jsonValue()),
      createdAtMs: fc.oneof(fc.constant(base.createdAtMs), fc.jsonValue()),
      reviewStatus: fc.oneof(fc.constantFrom('completed', 'pending'), fc.jsonValue()),
      reviewResult: fc.oneof(fc.constant({ reviewAnswer: 'GREEN' }), fc.jsonValue()),
    }
    const anything = fc.oneof(fc.jsonValue(), fc.record(fields, { requiredKeys: [] }))
    await fc.assert(
      fc.asyncProperty(anything, async (json) => {
        const event = await read(signed(JSON.stringify(json))).catch((error: unknown) => {
          expect(error).toMatchObject({ code: 'ERR_PROVIDER_WEBHOOK_MALFORMED' })
          return null
        })
        if (event?.kind !== 'applicant' || event.review?.reviewAnswer !== 'GREEN') return
        expect(json).toMatchObject({ reviewStatus: 'completed', reviewResult: { reviewAnswer: 'GREEN' } })
        expect(event.type).not.toBe('applicantReset')
      }),
      { numRuns: 3_000 },
    )
  })
})

describe('an event', () => {
  test.each([
    ['applicantCreated', 'init', undefined, 'init', null],
    ['applicantPending', 'pending', undefined, 'pending', null],
    ['applicantPrechecked', 'queued', undefined, 'pending', null],
    ['applicantReviewed', 'completed', 'GREEN', 'completed', 'GREEN'],
    ['applicantReviewed', 'completed', 'RED', 'completed', 'RED'],
    ['applicantReviewed', 'pending', 'GREEN', 'pending', null],
    ['applicantOnHold', 'onHold', 'GREEN', 'onHold', null],
    ['applicantAwaitingUser', 'awaitingUser', 'RED', 'init', null],
    ['applicantAwaitingService', 'awaitingService', 'GREEN', 'pending', null],
    ['applicantReset', 'init', 'GREEN', 'init', null],
    ['applicantReset', 'completed', 'GREEN', 'init', null],
    ['applicantStepsReset', 'completed', 'GREEN', 'init', null],
    ['applicantLevelChanged', 'completed', 'GREEN', 'init', null],
    ['applicantActivated', 'completed', 'GREEN', 'completed', 'GREEN'],
    ['applicantWorkflowCompleted', 'completed', 'GREEN', 'completed', 'GREEN'],
    ['applicantWorkflowFailed', 'completed', 'RED', 'completed', 'RED'],
  ])('%s with %s and %s is %s with %s', async (type, status, given, reviewStatus, reviewAnswer) => {
    const event = await makeEvent({ type, reviewStatus: status, reviewResult: given && { reviewAnswer: given } })
    expect(event.review).toMatchObject({ reviewStatus, reviewAnswer })
  })

  test.each([
    ['applicantReviewed', 'review', {}],
    ['applicantReset', 'review', {}],
    ['applicantActivated', 'activated', {}],
    ['applicantDeactivated', 'deactivated', { review: null }],
    ['applicantDeleted', 'deleted', { review: null }],
    ['applicantPersonalDataDeleted', 'deleted', { review: null }],
  ])('%s is a change of the kind %s, even with GREEN: %j', async (type, change, review) => {
    expect(await makeEvent({ type })).toMatchObject({ type, applicantId: base.applicantId, change, ...review })
  })

  test.each([
    ...['applicantActionReviewed', 'applicantActionPending', 'applicantActionOnHold', 'applicantPersonalInfoChanged'],
    ...['applicantTagsChanged', 'applicantKytTxnApproved', 'kytCaseReviewed', 'videoIdentStatusChanged'],
    ...['applicantVerdictOfTheFuture', 'ApplicantReviewed', 'toString'],
  ])('%s is about another matter, even with GREEN', async (type) => {
    expect(await read(signed({ ...base, type }))).toEqual({ kind: 'other', type })
  })
})

describe('the time of an event', () => {
  test.each([
    ['2020-02-21 13:23:19.001', Date.UTC(2020, 1, 21, 13, 23, 19, 1)],
    ['2020-02-21 13:23:19.1', Date.UTC(2020, 1, 21, 13, 23, 19, 100)],
    ['2020-02-21 13:23:19', Date.UTC(2020, 1, 21, 13, 23, 19)],
    ['2020-02-21 13:23:19+0000', Date.UTC(2020, 1, 21, 13, 23, 19)],
    ['2020-02-21T13:23:19.001Z', Date.UTC(2020, 1, 21, 13, 23, 19, 1)],
    ['2020-02-21T13:23:19.001+00:00', Date.UTC(2020, 1, 21, 13, 23, 19, 1)],
    ['2020-02-29 00:00:00.000', Date.UTC(2020, 1, 29)],
  ])('%s is %i, in every time zone of this machine', async (createdAtMs, at) => {
    const zone = process.env['TZ']
    onTestFinished(() => {
      if (zone === undefined) delete process.env['TZ']
      else process.env['TZ'] = zone
    })
    for (const each of ['UTC', 'Pacific/Kiritimati', 'America/St_Johns']) {
      process.env['TZ'] = each
      expect((await makeEvent({ createdAtMs })).at).toBe(at)
    }
  })

  test('has whole seconds when the time in milliseconds is missing or malformed', async () => {
    const createdAt = '2020-02-21 13:23:19+0000'
    for (const createdAtMs of [undefined, 'x', 5])
      expect((await makeEvent({ createdAtMs, createdAt })).at).toBe(Date.UTC(2020, 1, 21, 13, 23, 19))
  })
})

describe('the key of an event', () => {
  test('is the same for every copy, with any bytes and any secret', async () => {
    const { eventKey } = await makeEvent({})
    const reordered = Object.fromEntries(Object.entries(base).reverse())
    const event = await createWebhookReader({ secret: 'other' })(signed(JSON.stringify(reordered, null, 2), 'other'))
    expect(event).toMatchObject({ eventKey })
  })

  test.each([
    { applicantId: 'another' },
    { correlationId: 'req-2' },
    { correlationId: undefined },
    { type: 'applicantPending' },
    { createdAtMs: '2020-02-21 13:23:19.322' },
  ])('differs with %j', async (change) => {
    expect((await makeEvent(change)).eventKey).not.toBe((await makeEvent({})).eventKey)
  })
})

/** The webhooks of one applicant's history, in order. */
async function webhooksOfHistory(algorithm: 'HMAC_SHA256_HEX' | 'HMAC_SHA512_HEX') {
  const webhooks: RawWebhook[] = []
  const { baseUrl: url } = await serve(({ headers }, response, body) => {
    const header = (name: string) => (headers[name] as string | undefined) ?? null
    webhooks.push({ body, digest: header('x-payload-digest'), algorithm: header('x-payload-digest-alg') })
    response.end()
  })
  const { local } = await started()
  local.setWebhooks('ServiceCo', [{ url, secretKey: secret, algorithm }])
  const { id } = local.addApplicant({ clientId: 'ServiceCo', externalUserId: 'pi:1', as: 'init' })
  local.handIn(id)
  local.approve(id)
  local.resetApplicant(id)
  local.handIn(id)
  local.approve(id)
  local.reject(id, { labels: ['FORGERY'], rejectType: 'FINAL' })
  await local.deliverWebhooks()
  return webhooks
}

const verdicts = ['pending', 'GREEN', 'init', 'pending', 'GREEN', 'RED']

test.each(['HMAC_SHA256_HEX', 'HMAC_SHA512_HEX'] as const)(
  'signed with %s, every order of up to six webhooks of the provider ends in the verdict of the newest',
  async (algorithm) => {
    const webhooks = await webhooksOfHistory(algorithm)
    expect(webhooks).toHaveLength(verdicts.length)
    for (let length = 1; length <= webhooks.length; length++)
      for (const order of permutations(webhooks.slice(0, length))) {
        let newest: ApplicantEvent | null = null
        // Each arrives twice: a copy is never newer than its original.
        for (const webhook of [...order, ...order]) {
          const event = await read(webhook)
          if (event.kind === 'applicant' && (newest === null || event.at > newest.at)) newest = event
        }
        const { reviewStatus, reviewAnswer } = newest?.review ?? {}
        expect(reviewAnswer ?? reviewStatus).toBe(verdicts[length - 1])
      }
  },
)

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]]
  return items.flatMap((item, at) =>
    permutations([...items.slice(0, at), ...items.slice(at + 1)]).map((rest) => [item, ...rest]),
  )
}
