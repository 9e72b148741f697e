import { describe, expect, it } from 'vitest'
import { shareResponse } from '../test/samples.js'
import {
  formatShareRejection,
  openShareResponseSchema,
  parseFormerVerdict,
  reviewStatuses,
  shareRequestLimits,
  shareResponseSchema,
  shareResponseWriteSchema,
} from './identity.js'
import { shareRequestSchema } from './share-request.js'

describe('the share request (interface 4.2)', () => {
  it('accepts an e-mail and a non-empty token, verbatim', () => {
    const request = { email: 'user@shop.example', kycShareToken: ' _act-jwt- ' }
    expect(shareRequestSchema.parse(request)).toEqual(request)
  })

  it.each([
    ...['USER+tag@Shop.Example', 'zoë@shop.example', 'ユーザー@例え.テスト', 'ユーザー@例え。テスト'],
    ...['user@bücher.example', 'user@xn--bcher-kva.example', 'user@mail．shop｡example', 'user@shop.example.'],
    '"quoted"@shop.example',
  ])('accepts the address %s unchanged', (email) => {
    expect(shareRequestSchema.parse({ email, kycShareToken: 'x' })).toEqual({ email, kycShareToken: 'x' })
  })

  it.each([
    ...['', 'user', '@shop.example', 'user@', 'user@shop', 'user@shop.', 'user@.example', 'user@shop..example'],
    ...['user@shop.example..', 'user@shop@example.com', 'us er@shop.example', ' user@shop.example'],
    ...['user@shop.example\n', 'user@shop\u3000.example', 'user＠shop.example', 7, null, { '@': '.' }],
  ])('rejects the address %j', (email) => {
    expect(shareRequestSchema.safeParse({ email, kycShareToken: 'x' }).success).toBe(false)
  })

  it.each([
    ['email', 1_024],
    ['kycShareToken', 4_096],
  ] as const)('accepts in %s %i characters and rejects one more', (field, most) => {
    const request = { email: 'user@shop.example', kycShareToken: 'x' }
    const accepts = (length: number) =>
      shareRequestSchema.safeParse({ ...request, [field]: request[field].padStart(length, 'a') }).success
    expect(shareRequestLimits[field]).toBe(most)
    expect([accepts(most), accepts(most + 1)]).toEqual([true, false])
  })

  it.each([
    ['no e-mail', { kycShareToken: 'x' }],
    ['no token', { email: 'a@b.example' }],
    ['an empty token', { email: 'a@b.example', kycShareToken: '' }],
    ['a blank token', { email: 'a@b.example', kycShareToken: ' \t\u3000\n' }],
    ['a token that is not text', { email: 'a@b.example', kycShareToken: 7 }],
    ['null', null],
    ['an array', []],
  ])('rejects %s', (_what, request) => expect(shareRequestSchema.safeParse(request).success).toBe(false))
})

describe('the share response (interface 2.5)', () => {
  it.each(reviewStatuses)('may have the status %s', (reviewStatus) => {
    expect(shareResponseWriteSchema.safeParse({ ...shareResponse, reviewStatus }).success).toBe(true)
  })

  it('has null answers before a verdict', () => {
    const open = { ...shareResponse, reviewAnswer: null, rejectType: null }
    expect(shareResponseWriteSchema.safeParse(open).success).toBe(true)
  })

  it('is closed when writing and open when reading', () => {
    const leaky = { ...shareResponse, applicantId: 'a' }
    expect(shareResponseWriteSchema.safeParse(leaky).success).toBe(false)
    expect(shareResponseSchema.parse(leaky)).toEqual(leaky)
  })

  it.each([
    ...[{ reviewStatus: 'queued' }, { reviewAnswer: 'YELLOW' }, { rejectType: 'MAYBE' }],
    ...[{ rejectLabels: null }, { reused: 'yes' }],
  ])('rejects %j', (change) =>
    expect(shareResponseWriteSchema.safeParse({ ...shareResponse, ...change }).success).toBe(false),
  )

  const newer = { ...shareResponse, reviewStatus: 'awaitingUser', reviewAnswer: 'YELLOW', rejectType: 'EXTERNAL' }

  it('may have unknown values only in the open schema', () => {
    expect(openShareResponseSchema.parse({ ...newer, applicantId: 'a' })).toEqual({ ...newer, applicantId: 'a' })
    expect(shareResponseSchema.safeParse(newer).success).toBe(false)
  })

  it.each([
    ...[{ reviewStatus: null }, { reviewAnswer: 1 }, { rejectType: false }, { rejectLabels: [1] }, { reused: 'yes' }],
  ])('rejects %j in the open schema too', (change) =>
    expect(openShareResponseSchema.safeParse({ ...newer, ...change }).success).toBe(false),
  )
})

const said = 'Token is invalid: accessed at 10:30'
const sentence = 'The verification shared before was rejected: RED'

describe('the message of a 422', () => {
  it.each([
    [said, null, said],
    ['', null, ''],
    [said, { rejectType: 'FINAL', rejectLabels: ['A', 'Ü, b.'] }, `${said}. ${sentence}, FINAL. Labels: A, Ü, b..`],
    ['No!', { rejectType: 'RETRY', rejectLabels: [] }, `No! ${sentence}, RETRY.`],
    ['', { rejectType: null, rejectLabels: ['A'] }, `${sentence}. Labels: A.`],
  ] as const)('after %j with %j is %j', (description, former, message) => {
    const copy = former === null ? null : { ...former, rejectLabels: [...former.rejectLabels] }
    expect(formatShareRejection(description, copy)).toBe(message)
  })

  it.each([
    ['many labels', Array.from({ length: 500 }, (_, n) => `LABEL_${n}`), /Labels: LABEL_0, .* and \d+ more[.]$/],
    ['one overlong label', ['x'.repeat(2_000)], /Labels: 1, each too long to be shown[.]$/],
  ])('holds whole labels, 1000 characters at most: %s', (_, rejectLabels, pattern) => {
    const message = formatShareRejection('', { rejectType: 'RETRY', rejectLabels })
    expect(message).toMatch(pattern)
    expect(message.length).toBeLessThan(1_100)
    const [, text = ''] = message.split('Labels: ')
    const shown = text.split(/, | and \d+ more[.]/).filter((each) => each.startsWith('LABEL'))
    expect(shown).toEqual(rejectLabels.slice(0, shown.length).filter((label) => label.startsWith('LABEL')))
  })
})

describe('the former verdict', () => {
  const texts = [
    ...['', said, 'A', `${sentence}, FINAL.`, `${sentence}, RETRY`, sentence, ', FINAL.', '. Labels: '],
    'x'.repeat(999),
  ]

  it('of a formatted rejection has its reject type, whatever the labels', () => {
    for (const description of ['', said, `${sentence}, FINAL. And more`, sentence])
      for (const rejectType of ['RETRY', 'FINAL', null] as const)
        for (const first of texts)
          for (const second of texts) {
            const message = formatShareRejection(description, { rejectType, rejectLabels: [first, second] })
            expect(parseFormerVerdict(message), message).toEqual({ rejectType })
          }
  })

  it.each(['', said, `${sentence}, LATER.`, `${sentence}FINAL`, sentence])('is not in %j', (message) => {
    expect(parseFormerVerdict(message)).toBeNull()
  })
})
