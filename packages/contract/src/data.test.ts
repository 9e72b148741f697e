import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as contract from './exports/index.js'
import * as internal from './exports/internal.js'

describe('the numbers and names of the contract', () => {
  it('has the limits of interface 8', () => {
    expect(contract.pageLimit).toEqual({ default: 50, min: 1, max: 200 })
    expect(contract.deliveryTimeoutMs).toBe(5_000)
    expect(contract.signatureToleranceSeconds).toBe(300)
    expect(contract.shareTokenLifetimeSeconds).toBe(20 * 60)
  })

  it('has the finality table of interface 8', () => {
    const rows = Object.entries(contract.finality)
    expect(rows.map(([id, row]) => [Number(id), row.confirmations, row.approximateSeconds])).toEqual([
      [1, 3, 36],
      [10, 48, 96],
      [100, 1, 5],
      [137, 50, 100],
      [42161, 1600, 480],
    ])
  })

  it('has the payment states of interface 3', () => {
    const text = readFileSync(new URL('../../../docs/interface.md', import.meta.url), 'utf8')
    const [, list = ''] = /^A payment is ([^;]*); null/m.exec(text) ?? []
    expect(contract.paymentStates).toEqual(Array.from(list.matchAll(/`(\w+)`/g), ([, state]) => state))
    expect(contract.paymentStates.length).toBeGreaterThan(5)
  })

  it('has the header names of interface 6 and the cache rule of interface 4', () => {
    expect(contract.signatureHeader).toBe('X-Service-Signature')
    expect(contract.integrationHeader).toBe('X-Service-Integration')
    expect(internal.cacheControl).toBe('private, no-store')
  })

  it('has the fixed error bodies of interface 5 and 7', () => {
    expect(internal.unauthorizedBody).toEqual({ error: 'Unauthorized' })
    expect(internal.notFoundBody).toEqual({ error: 'Not found' })
    expect(internal.verificationUnavailableBody).toEqual({ error: 'KYC unavailable for this user' })
  })

  it('has two schemas for the objects that the README names, and for no other', () => {
    const twice = Object.keys(internal).filter((name) => name.endsWith('WriteSchema'))
    const named = ['linkConfig', 'lookup', 'page', 'payment', 'shareResponse', 'snapshot', 'verifyResponse']
    expect(twice.toSorted()).toEqual(named.map((name) => `${name}WriteSchema`))
  })
})

describe('the rejections of the share endpoint (interface 7)', () => {
  it('differ from each other and from the common ones: a client can distinguish an unknown path from disabled sharing', () => {
    const bodies = [
      ...[internal.unauthorizedBody, internal.notFoundBody, internal.verificationUnavailableBody],
      ...[internal.sharingDisabledBody, internal.identityMisconfiguredBody, internal.identityUnavailableBody],
    ]
    expect(new Set(bodies.map(({ error }) => error)).size).toBe(6)
    for (const body of bodies) expect(contract.errorBodySchema.parse(body)).toEqual(body)
  })

  it("have the provider's description in a 422", () => {
    const body = { error: 'Rejected', message: 'Token is invalid', more: 1 }
    expect(contract.shareRejectedBodySchema.parse(body)).toEqual(body)
    expect(contract.errorBodySchema.parse(body)).toEqual(body)
    expect(contract.shareRejectedBodySchema.safeParse({ error: 'Rejected' }).success).toBe(false)
    expect(contract.shareRejectedBodySchema.safeParse({ ...body, message: null }).success).toBe(false)
  })
})
