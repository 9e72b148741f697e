import { describe, expect, it } from 'vitest'
import { shareResponse } from '../test/samples.js'
import { reviewStatuses, shareRequestSchema, shareResponseSchema, shareResponseWriteSchema } from './identity.js'

describe('the share request (INTERFACE 4.2)', () => {
  it('takes an e-mail and a non-empty token, verbatim', () => {
    const request = { email: 'user@shop.example', kycShareToken: ' _act-jwt- ' }
    expect(shareRequestSchema.parse(request)).toEqual(request)
  })

  it.each([
    ['no e-mail', { kycShareToken: 'x' }],
    ['a malformed e-mail', { email: 'user', kycShareToken: 'x' }],
    ['an e-mail over 254 characters', { email: `${'a'.repeat(250)}@b.example`, kycShareToken: 'x' }],
    ['no token', { email: 'a@b.example' }],
    ['an empty token', { email: 'a@b.example', kycShareToken: '' }],
    ['a token that is not text', { email: 'a@b.example', kycShareToken: 7 }],
  ])('refuses %s', (_what, request) => expect(shareRequestSchema.safeParse(request).success).toBe(false))
})

describe('the share response (INTERFACE 2.5)', () => {
  it.each(reviewStatuses)('may have the status %s', (reviewStatus) => {
    expect(shareResponseWriteSchema.safeParse({ ...shareResponse, reviewStatus }).success).toBe(true)
  })

  it('has null answers before a verdict', () => {
    expect(shareResponseWriteSchema.safeParse({ ...shareResponse, reviewAnswer: null, rejectType: null }).success).toBe(
      true,
    )
  })

  it('is closed when writing and open when reading', () => {
    const leaky = { ...shareResponse, applicantId: 'a' }
    expect(shareResponseWriteSchema.safeParse(leaky).success).toBe(false)
    expect(shareResponseSchema.parse(leaky)).toEqual(leaky)
  })

  it.each([
    { reviewStatus: 'queued' },
    { reviewAnswer: 'YELLOW' },
    { rejectType: 'MAYBE' },
    { rejectLabels: null },
    { reused: 'yes' },
  ])('refuses %j', (change) =>
    expect(shareResponseWriteSchema.safeParse({ ...shareResponse, ...change }).success).toBe(false),
  )
})
