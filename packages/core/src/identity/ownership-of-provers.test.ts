/** docs/interface.md 4.2: the subjects of an account that proved an address, and of the next owner. */
import { describe, expect, test } from 'vitest'
import { otherShop, shop } from '../../test/support/identity-setup.js'
import { ownershipSetup, X, Y } from '../../test/support/ownership-setup.js'

describe('an account that proved an address keeps what was shared for it', () => {
  test.each([false, true])('when it proves another one, whoever ends the redemption then: %s', async (late) => {
    const s = ownershipSetup()
    const u = await s.proveIt(X)
    const n = await s.begin()
    if (!late) await s.end(n, 'redeemed')
    await s.proveAs(u, Y)
    if (late) await s.end(n, 'redeemed')
    expect(s.holds(u)).toHaveLength(1)
    expect(s.holds(await s.proveIt(X))).toEqual([])
  })

  test('when nothing is found of a lost answer for the next address', async () => {
    const s = ownershipSetup()
    const u = await s.proveIt(X)
    const a = await s.redeem()
    await s.verdict(a, 'rejected')
    await s.proveAs(u, Y)
    const n = await s.loseOne(Y)
    await s.end(n, 'absent')
    expect(s.holds(u)).toEqual([`${a} rejected`])
  })

  test('when it proves the one that it carries, and then another one', async () => {
    const s = ownershipSetup()
    const u = await s.register(X)
    const a = await s.redeem()
    await s.proveAs(u, X)
    await s.proveAs(u, Y)
    expect(s.holds(u)).toEqual([`${a} init`])
  })

  test('proved by another with a verification of its own: each keeps its own', async () => {
    const s = ownershipSetup()
    const u = await s.proveIt(X)
    const a = await s.redeem()
    const v = await s.proveIt(Y)
    const b = await s.redeem(Y)
    await s.proveAs(v, X)
    expect([s.holds(u), s.holds(v)]).toEqual([[`${a} init`], [`${b} init`]])
  })

  test('proved by another: the next owner is shared for anew', async () => {
    const s = ownershipSetup()
    const u = await s.proveIt(Y)
    const a = await s.redeem(Y)
    await s.verdict(a, 'approved')
    await s.proveAs(u, X)
    const n = await s.proveIt(X)
    expect([s.holds(u), s.holds(n)]).toEqual([[`${a} approved`], []])
    expect(await s.reuses()).toBe(true)
  })

  test('proved by one after the other: the first has it for ever', async () => {
    const s = ownershipSetup()
    const a = await s.redeem()
    const first = await s.proveIt(X)
    const second = await s.proveIt(X)
    expect([s.holds(first), s.holds(second)]).toEqual([[`${a} init`], []])
    await s.proveAs(second, Y)
    expect(s.holds(await s.proveIt(Y))).toEqual([])
    expect([s.holds(first), s.holds(second)]).toEqual([[`${a} init`], []])
  })

  test('proved by another while a retry is refused: what was before stays', async () => {
    const s = ownershipSetup()
    const u = await s.proveIt(Y)
    const a = await s.redeem(Y)
    await s.verdict(a, 'rejected')
    await s.proveAs(u, X)
    const n = await s.begin(X)
    const v = await s.proveIt(X)
    await s.end(n, 'refused')
    expect([s.holds(u), s.holds(v)]).toEqual([[`${a} rejected`], []])
  })

  test('and answers for both addresses once a lost answer is found', async () => {
    const s = ownershipSetup()
    const u = await s.proveIt(X)
    const n = await s.loseOne()
    await s.proveAs(u, Y)
    const v = await s.proveIt(X)
    await s.end(n, 'redeemed')
    expect(await s.shareFor(Y)).toMatchObject({ reviewStatus: 'init', reused: false })
    expect(s.holds(v)).toEqual([])
    expect(await s.reuses()).toBe(true)
  })

  test('proved by another while its answer is lost: each address is redeemed for once', async () => {
    const s = ownershipSetup()
    const u = await s.proveIt(X)
    const n = await s.loseOne()
    const v = await s.proveIt(X)
    await s.proveAs(u, Y)
    expect(s.holds(u)).toEqual([])
    await s.end(n, 'redeemed')
    expect([s.holds(u).length, s.holds(v).length]).toEqual([1, 0])
    expect([await s.reuses(Y), await s.reuses(X), await s.reuses(X)]).toEqual([false, true, false])
  })

  test('of two addresses, whoever proves either next', async () => {
    const s = ownershipSetup()
    const u = await s.proveIt(X)
    const n = await s.loseOne(X, otherShop)
    await s.end(n, 'absent')
    const b = await s.redeem(Y)
    await s.verdict(b, 'rejected')
    await s.proveAs(u, Y)
    const t = await s.proveIt(Y)
    await s.end(n, 'redeemed')
    expect(s.holds(t)).toEqual([])
    expect(s.holds(u)).toEqual([s.of(n, 'init'), `${b} rejected`])
  })

  test('where it shared for another one since, and that one was taken', async () => {
    const s = ownershipSetup()
    const p = await s.proveIt(X)
    const n = await s.loseOne()
    await s.end(n, 'absent')
    const m = await s.loseOne()
    await s.end(m, 'redeemed')
    const v = await s.proveIt(X)
    expect([s.holds(p).length, s.holds(v)]).toEqual([1, []])
    const b = await s.redeem(Y)
    await s.verdict(b, 'approved')
    await s.proveAs(p, Y)
    await s.end(m, 'absent')
    expect(s.holds(p)).toEqual([s.of(m, 'init'), `${b} approved`])
  })

  test('and a late applicant of an earlier redemption, after any later redemption', async () => {
    const s = ownershipSetup()
    const u = await s.proveIt(X)
    const n = await s.loseOne()
    await s.end(n, 'absent')
    const t = await s.proveIt(X)
    await s.proveAs(u, Y)
    const b = await s.redeem(Y)
    await s.verdict(b, 'rejected')
    const m = await s.loseOne(Y)
    const o = await s.proveIt(Y)
    await s.end(n, 'redeemed')
    await s.end(m, 'absent')
    expect([s.holds(t), s.holds(o)]).toEqual([[], []])
    expect(s.holds(u)).toEqual([s.of(n, 'init'), `${b} rejected`])
  })

  test.each(['refused', 'redeemed'] as const)(
    'and proves the address again: what is shown late lands at its first subject (%s)',
    async (how) => {
      const s = ownershipSetup()
      const u = await s.proveIt(X)
      const n = await s.loseOne()
      const t = await s.proveIt(X)
      await s.proveAs(t, Y)
      await s.proveAs(u, X)
      await s.end(n, 'absent')
      const m = await s.begin(X)
      await s.end(n, 'redeemed')
      await s.end(m, how)
      expect(s.holds(t)).toEqual([])
      expect(s.holds(u)).toHaveLength(how === 'refused' ? 1 : 2)
    },
  )
})

describe('a retry of a prover after RED', () => {
  async function retrying() {
    const s = ownershipSetup()
    const a = await s.redeem()
    await s.verdict(a, 'rejected')
    return { ...s, a, owner: await s.proveIt(X) }
  }

  test('whose answer is lost is found: no second token is redeemed', async () => {
    const s = await retrying()
    const n = await s.loseOne()
    await s.expire()
    s.provider.deleted.clear()
    expect(await s.reuses()).toBe(false)
    expect(s.holds(s.owner)).toEqual([s.of(n, 'init')])
    expect(s.provider.redeemed).toHaveLength(2)
  })

  test('that came to nothing leaves the rejection, and a fresh token is redeemed', async () => {
    const s = ownershipSetup()
    const a = await s.redeem()
    await s.verdict(a, 'rejected')
    const n = await s.loseOne()
    const u = await s.proveIt(X)
    await s.end(n, 'absent')
    expect(s.holds(u)).toEqual([`${a} rejected`])
    expect(await s.reuses()).toBe(true)
  })

  test('takes the place of the rejected one, though that turned meanwhile', async () => {
    const s = await retrying()
    const n = await s.loseOne()
    await s.verdict(s.a, 'pending')
    await s.end(n, 'redeemed')
    await s.verdict(`applicant of ${n}`, 'approved')
    expect(await s.shareFor(X)).toMatchObject({ reviewAnswer: 'GREEN', reused: false })
  })

  test('for another address is answered by its own', async () => {
    const s = await retrying()
    await s.proveAs(s.owner, Y)
    const n = await s.loseOne(Y)
    await s.verdict(s.a, 'pending')
    await s.end(n, 'redeemed')
    await s.verdict(`applicant of ${n}`, 'approved')
    await s.verdict(s.a, 'rejected')
    expect(await s.shareFor(Y)).toMatchObject({ reviewAnswer: 'GREEN', reused: false })
  })

  test('for another address stays with its person, after any later proof of either address', async () => {
    const s = await retrying()
    await s.proveAs(s.owner, Y)
    const n = await s.loseOne(Y)
    await s.verdict(s.a, 'approved')
    await s.proveAs(s.owner, X)
    const since = await s.proveIt(X)
    await s.proveAs(s.owner, Y)
    await s.end(n, 'redeemed')
    expect(s.holds(since)).toEqual([])
    expect(s.holds(s.owner).sort()).toEqual([`${s.a} approved`, s.of(n, 'init')].sort())
  })

  test('for an address that is proved by another meanwhile stays, in the place of what it replaced', async () => {
    const s = await retrying()
    const n = await s.loseOne()
    const since = await s.proveIt(X)
    await s.end(n, 'redeemed')
    expect([s.holds(s.owner), s.holds(since)]).toEqual([[s.of(n, 'init')], []])
    expect(await s.reuses()).toBe(true)
  })

  test('of the second address, that is proved by another meanwhile, leaves the first one alone', async () => {
    const s = ownershipSetup()
    const u = await s.proveIt(X)
    const a = await s.redeem()
    await s.verdict(a, 'rejected')
    await s.proveAs(u, Y)
    const n = await s.loseOne(Y)
    await s.verdict(a, 'approved')
    const o = await s.proveIt(Y)
    await s.end(n, 'redeemed')
    expect(s.holds(u)).toEqual([`${a} approved`, s.of(n, 'init')])
    expect(s.holds(o)).toEqual([])
  })
})

describe('who gives an address up', () => {
  const starts = ['placeholder', 'carrier', 'prover'] as const
  const nexts = ['nobody', 'registers', 'proves', 'first'] as const
  test.each(starts.flatMap((start) => nexts.map((next) => [start, next] as const)))(
    'has what was shared for it since it was proved: shared at a %s, and then %s',
    async (start, next) => {
      const s = ownershipSetup()
      const c = start === 'placeholder' ? null : await s.register(X)
      if (c !== null && start === 'prover') await s.proveAs(c, X)
      const n = await s.loseOne()
      const o = await s.proveAs(await s.proveIt(X), Y)
      if (next === 'registers') await s.register(X)
      if (next === 'proves') await s.proveIt(X)
      if (next === 'first' && c !== null) await s.proveAs(c, X)
      await s.end(n, 'redeemed')
      expect(s.holds(o)).toHaveLength(start === 'prover' ? 0 : 1)
      if (c !== null) expect(s.holds(c)).toHaveLength(start === 'prover' ? 1 : 0)
    },
  )

  async function gaveUp() {
    const s = ownershipSetup()
    const owner = await s.proveIt(X)
    const a = await s.redeem()
    await s.verdict(a, 'rejected')
    await s.proveAs(owner, Y)
    return { ...s, owner, a, since: await s.proveIt(X) }
  }

  test.each([shop, otherShop])('leaves it to its next owner, and to any integration: %s', async (by) => {
    const s = await gaveUp()
    await s.redeem(Y)
    expect(s.holds(s.since)).toEqual([])
    expect(await s.reuses(X, by)).toBe(true)
  })

  test('gives an approval that arrives meanwhile to no other account', async () => {
    const s = await gaveUp()
    const n = await s.loseOne(Y)
    await s.verdict(s.a, 'approved')
    await s.end(n, 'redeemed')
    expect(s.holds(s.since)).toEqual([])
    expect(s.holds(s.owner)).toContain(s.of(n, 'init'))
  })

  test('has what was there where a redemption for another address brings nothing', async () => {
    const s = await gaveUp()
    const n = await s.loseOne(Y)
    await s.end(n, 'absent')
    expect(s.holds(s.owner)).toEqual([`${s.a} rejected`])
    expect(s.holds(s.since)).toEqual([])
  })
})

test('a late answer is about its own applicant alone, at the subject of its redemption', async () => {
  const s = ownershipSetup()
  const u = await s.proveIt(X)
  const n = await s.loseOne()
  await s.proveAs(u, Y)
  await s.end(n, 'redeemed')
  const key = await s.keyOf(X)
  const found = s.subjectsOf(u).find(({ applicantId }) => applicantId === `applicant of ${n}`)
  expect(found).toMatchObject({ emailKey: key, closed: true })
})
