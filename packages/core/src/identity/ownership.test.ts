/**
 * docs/interface.md 4.2: whose a verification is, whoever registers, proves, attests and shares, in whatever order.
 * `proved by another`: a subject that an account proved stays with it for ever, and who proves the address next gets a
 * new one.
 */
import { describe, expect, test } from 'vitest'
import { otherShop, shop } from '../../test/support/identity-setup.js'
import { ownershipSetup, X, Y, Z } from '../../test/support/ownership-setup.js'

describe('a placeholder', () => {
  test('belongs to the account that proves its address, with the verification shared for it', async () => {
    const s = ownershipSetup()
    const a = await s.redeem()
    expect(s.holds(await s.proveIt(X))).toEqual([`${a} init`])
  })

  test('gives nothing to an account that registers without a proof', async () => {
    const s = ownershipSetup()
    await s.redeem()
    expect(s.holds(await s.register(X))).toEqual([])
  })

  test('is given to an account by an attestation of its donor, once', async () => {
    const s = ownershipSetup()
    await s.redeem()
    expect(await s.attest(X, otherShop)).toBeNull()
    const account = await s.attest(X, shop)
    expect(s.holds(account ?? '')).toHaveLength(1)
    expect(await s.attest(X, shop)).toBeNull()
  })

  test('proved during a redemption gives the new applicant to its prover', async () => {
    const s = ownershipSetup()
    const n = await s.begin()
    const u = await s.proveIt(X)
    await s.end(n, 'redeemed')
    expect(s.holds(u)).toHaveLength(1)
    expect(await s.reuses()).toBe(false)
  })

  test('proved while a second redemption is refused gives the earlier rejection to its prover', async () => {
    const s = ownershipSetup()
    const a = await s.redeem()
    await s.verdict(a, 'rejected')
    const n = await s.begin()
    const u = await s.proveIt(X)
    await s.end(n, 'refused')
    expect(s.holds(u)).toEqual([`${a} rejected`])
  })

  test.each(['redeemed', 'absent'] as const)('proved before its lost answer is found to be %s', async (how) => {
    const s = ownershipSetup()
    const n = await s.loseOne()
    const u = await s.proveIt(X)
    await s.end(n, how)
    expect(s.holds(u)).toHaveLength(how === 'redeemed' ? 1 : 0)
    expect(await s.reuses()).toBe(how === 'absent')
  })

  test('proved before its lost answer is found gives the applicant to its prover, once', async () => {
    const s = ownershipSetup()
    const n = await s.loseOne()
    const u = await s.proveIt(X)
    await s.end(n, 'redeemed')
    await s.end(n, 'redeemed')
    expect(s.holds(u)).toHaveLength(1)
    expect(await s.reuses()).toBe(false)
  })

  test('proved while an outcome is unknown: the next share looks the name up, and no second token is redeemed', async () => {
    const s = ownershipSetup()
    const n = await s.loseOne()
    const u = await s.proveIt(X)
    await s.expire()
    s.provider.deleted.clear()
    expect(await s.reuses()).toBe(false)
    expect(s.provider.redeemed).toHaveLength(1)
    expect(s.holds(u)).toEqual([s.of(n, 'init')])
  })
})

describe('an address that an account only carries', () => {
  test('gives its verification to that account, until another account proves it', async () => {
    const s = ownershipSetup()
    const u = await s.register(X)
    const a = await s.redeem()
    expect(s.holds(u)).toEqual([`${a} init`])
    const v = await s.proveIt(X)
    expect([s.holds(u), s.holds(v)]).toEqual([[], [`${a} init`]])
  })

  test('leaves an account that proves another address, and waits for the account that proves it', async () => {
    const s = ownershipSetup()
    const q = await s.register(X)
    const a = await s.redeem()
    await s.verdict(a, 'approved')
    await s.proveAs(q, Y)
    expect(s.holds(q)).toEqual([])
    expect(await s.shareFor(X)).toMatchObject({ reviewAnswer: 'GREEN', reused: false })
    expect(await s.reuses(Y)).toBe(true)
    expect(s.holds(await s.proveIt(X))).toEqual([`${a} approved`])
  })

  test('leaves an account that proves another address with its own verification', async () => {
    const s = ownershipSetup()
    const q = await s.register(X)
    const a = await s.redeem()
    const b = await s.redeem(Y)
    await s.proveAs(q, Y)
    expect(s.holds(q)).toEqual([`${b} init`])
    expect(s.holds(await s.proveIt(X))).toEqual([`${a} init`])
  })

  test('gives a redemption in flight to the account that proves it, if its former account proves another address', async () => {
    const s = ownershipSetup()
    const q = await s.register(X)
    const n = await s.begin()
    await s.proveAs(q, Y)
    await s.end(n, 'redeemed')
    expect(s.holds(q)).toEqual([])
    expect(await s.reuses(Y)).toBe(true)
    expect(s.holds(await s.proveIt(X))).toHaveLength(1)
  })

  test('gives an applicant found after a lost answer to the account that proves it, with its verdict', async () => {
    const s = ownershipSetup()
    const q = await s.register(X)
    const n = await s.loseOne()
    await s.proveAs(q, Y)
    await s.end(n, 'redeemed')
    await s.verdict(`applicant of ${n}`, 'approved')
    expect(s.holds(q)).toEqual([])
    expect(await s.reuses(Y)).toBe(true)
    expect(s.holds(await s.proveIt(X))).toEqual([s.of(n, 'approved')])
  })

  test('keeps its rejection for the account that proves it, if a second redemption is refused meanwhile', async () => {
    const s = ownershipSetup()
    const q = await s.register(X)
    const a = await s.redeem()
    await s.verdict(a, 'rejected')
    const n = await s.begin()
    await s.proveAs(q, Y)
    await s.end(n, 'refused')
    expect(s.holds(q)).toEqual([])
    expect(s.holds(await s.proveIt(X))).toEqual([`${a} rejected`])
  })

  test('keeps its rejection for the account that proves it, if a second redemption is absent', async () => {
    const s = ownershipSetup()
    const q = await s.register(X)
    const a = await s.redeem()
    await s.verdict(a, 'rejected')
    const n = await s.loseOne()
    await s.proveAs(q, Y)
    await s.end(n, 'absent')
    expect(s.holds(q)).toEqual([])
    expect(s.holds(await s.proveIt(X))).toEqual([`${a} rejected`])
  })

  test('goes to the account that proves it, beside the verification that this account already has', async () => {
    const s = ownershipSetup()
    const q = await s.register(X)
    const a = await s.redeem()
    const o = await s.proveIt(Z)
    const b = await s.redeem(Z)
    await s.proveAs(o, X)
    await s.proveAs(q, Y)
    expect(s.holds(q)).toEqual([])
    expect(s.holds(o).sort()).toEqual([`${a} init`, `${b} init`].sort())
  })

  test('goes to the oldest other account that carries it, where a direct verification hides its own', async () => {
    const s = ownershipSetup()
    const q = await s.register(X)
    const a = await s.redeem()
    const c = await s.register(X)
    await s.direct(c)
    await s.proveAs(q, Y)
    expect([s.holds(q), s.holds(c)]).toEqual([[], [`${a} init`]])
    expect(await s.reuses()).toBe('conflict')
    expect(s.holds(await s.proveIt(X))).toEqual([`${a} init`])
  })

  test('can have a redemption in flight while its former account redeems for another address that it proved', async () => {
    const s = ownershipSetup()
    const q = await s.register(X)
    await s.verdict(await s.redeem(), 'rejected')
    const n = await s.begin()
    await s.proveAs(q, Y)
    expect(await s.reuses(Y)).toBe(true)
    await s.end(n, 'redeemed')
    expect(s.holds(q)).toHaveLength(1)
    expect(s.holds(q)).not.toContain(s.of(n, 'init'))
  })

  test('brings nothing to its next owner when its only redemption is absent', async () => {
    const s = ownershipSetup()
    const u = await s.register(X)
    const n = await s.loseOne()
    await s.end(n, 'absent')
    await s.proveAs(u, Y)
    await s.redeem(Y)
    const v = await s.proveIt(X)
    expect([s.holds(u).length, s.holds(v)]).toEqual([1, []])
  })
})

describe('a direct verification', () => {
  test('stays with its user, and every share for an address of the account is 409', async () => {
    const s = ownershipSetup()
    const u = await s.register(X)
    await s.direct(u)
    expect(await s.reuses()).toBe('conflict')
    await s.proveIt(X)
    expect(s.subjectsOf(u)).toMatchObject([{ emailKey: null }])
    expect(await s.reuses()).toBe(true)
  })

  test('does not replace an approved shared one', async () => {
    const s = ownershipSetup()
    const u = await s.register(X)
    await s.verdict(await s.redeem(), 'approved')
    expect(await s.direct(u)).toBe('kept')
  })

  test('recorded after a redemption makes every later share 409', async () => {
    const s = ownershipSetup()
    const u = await s.register(X)
    const n = await s.begin()
    await s.end(n, 'redeemed')
    expect(await s.direct(u)).toBe('recorded')
    expect(await s.reuses()).toBe('conflict')
  })

  test('of the former owner does not hide the verification shared for the next owner', async () => {
    const s = ownershipSetup()
    const u = await s.proveIt(X)
    const n = await s.loseOne()
    const t = await s.proveIt(X)
    expect(await s.direct(u)).toBe('busy')
    await s.expire()
    expect(await s.direct(u)).toBe('recorded')
    await s.end(n, 'redeemed')
    expect([s.holds(u), s.holds(t)]).toEqual([[s.of(n, 'init')], []])
    expect(await s.reuses()).toBe(true)
  })
})
