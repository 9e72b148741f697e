import { describe, expect, it } from 'vitest'
import {
  errorBodySchema,
  identityMisconfiguredBody,
  identityUnavailableBody,
  notFoundBody,
  shareRejectedBodySchema,
  sharingDisabledBody,
  unauthorizedBody,
  verificationUnavailableBody,
} from './errors.js'

describe('the rejections of the share endpoint (interface 7)', () => {
  it('differ from each other and from the common ones: a client can distinguish an unknown path from disabled sharing', () => {
    const bodies = [
      ...[unauthorizedBody, notFoundBody, verificationUnavailableBody],
      ...[sharingDisabledBody, identityMisconfiguredBody, identityUnavailableBody],
    ]
    expect(new Set(bodies.map(({ error }) => error)).size).toBe(6)
    for (const body of bodies) expect(errorBodySchema.parse(body)).toEqual(body)
  })

  it("have the provider's description in a 422", () => {
    const body = { error: 'Rejected', message: 'Token is invalid', more: 1 }
    expect(shareRejectedBodySchema.parse(body)).toEqual(body)
    expect(errorBodySchema.parse(body)).toEqual(body)
    expect(shareRejectedBodySchema.safeParse({ error: 'Rejected' }).success).toBe(false)
    expect(shareRejectedBodySchema.safeParse({ ...body, message: null }).success).toBe(false)
  })
})
