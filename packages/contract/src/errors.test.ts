import { describe, expect, it } from 'vitest'
import {
  errorBodySchema,
  identityMisconfiguredBody,
  identityUnavailableBody,
  kycUnavailableBody,
  notFoundBody,
  shareRejectedBodySchema,
  sharingDisabledBody,
  unauthorizedBody,
} from './errors.js'

describe('the refusals of the share endpoint (interface 7)', () => {
  it('differ in their words from each other and from those of every endpoint: a client tells a path that is not there from sharing that is off', () => {
    const bodies = [
      ...[unauthorizedBody, notFoundBody, kycUnavailableBody],
      ...[sharingDisabledBody, identityMisconfiguredBody, identityUnavailableBody],
    ]
    expect(new Set(bodies.map(({ error }) => error)).size).toBe(6)
    for (const body of bodies) expect(errorBodySchema.parse(body)).toEqual(body)
  })

  it('have the description of the provider in a 422', () => {
    const body = { error: 'Rejected', message: 'Token is invalid', more: 1 }
    expect(shareRejectedBodySchema.parse(body)).toEqual(body)
    expect(errorBodySchema.parse(body)).toEqual(body)
    expect(shareRejectedBodySchema.safeParse({ error: 'Rejected' }).success).toBe(false)
    expect(shareRejectedBodySchema.safeParse({ ...body, message: null }).success).toBe(false)
  })
})
