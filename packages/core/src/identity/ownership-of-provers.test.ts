/** docs/interface.md 4.2: the subjects of an account that proved an address, and of the next owner. */
import { describe, expect, test } from 'vitest'
import { otherShop, shop } from '../../test/support/identity-setup.js'
import { ownershipSetup, X, Y } from '../../test/support/ownership-setup.js'

describe('an account that proved an address keeps the verification shared for it', () => {
  test.each([false, true])('when it proves another address, before the redemption has its answer: %s', async (late) => {
    const s = ownershipSetup()
    const u = await s.proveIt(X)
    const n = await s.begin()
    if (!late) await s.end(n, 'redeemed')
    await s.proveAs(u, Y)
    if (late) await s.end(n, 'redeemed')
    expect(s.holds(u)).toHaveLength(1)
    expect(s.holds(await s.proveIt(X))).toEqual([])
  })

  test('when a redemption for its next address is absent', async () => {
    const s = ownershipSetup()
    const u = await s.proveIt(X)
    const a = await s.redeem()
    await s.verdict(a, 'rejected')
    await s.proveAs(u, Y)
    const n = await s.loseOne(Y)
    await s.end(n, 'absent')
    expect(s.holds(u)).toEqual([`${a} rejected`])
  })

  test('when it proves the address that it carries, and then another one', async () => {
    const s = ownershipSetup()
    const u = await s.register(X)
    const a = await s.redeem()
    await s.proveAs(u, X)
    await s.proveAs(u, Y)
    expect(s.holds(u)).toEqual([`${a} init`])
  })

  test('when an account with its own verification proves the address: each keeps its own', async () => {
    const s = ownershipSetup()
    const u = await s.proveIt(X)
    const a = await s.redeem()
    const v = await s.proveIt(Y)
    const b = await s.redeem(Y)
    await s.proveAs(v, X)
    expect([s.holds(u), s.holds(v)]).toEqual([[`${a} init`], [`${b} init`]])
  })

  test('when another account proves the address: for the next owner a token is redeemed anew', async () => {
    const s = ownershipSetup()
    const u = await s.proveIt(Y)
    const a = await s.redeem(Y)
    await s.verdict(a, 'approved')
    await s.proveAs(u, X)
    const n = await s.proveIt(X)
    expect([s.holds(u), s.holds(n)]).toEqual([[`${a} approved`], []])
    expect(await s.reuses()).toBe(true)
  })

  test('for ever, when other accounts prove the address one after the other', async () => {
    const s = ownershipSetup()
    const a = await s.redeem()
    const first = await s.proveIt(X)
    const second = await s.proveIt(X)
    expect([s.holds(first), s.holds(second)]).toEqual([[`${a} init`], []])
    await s.proveAs(second, Y)
    expect(s.holds(await s.proveIt(Y))).toEqual([])
    expect([s.holds(first), s.holds(second)]).toEqual([[`${a} init`], []])
  })

  test('when another account proves the address while a second redemption is refused', async () => {
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

  test('when a lost answer is found, which then counts for its next address too', async () => {
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

  test('when another account proves the address before a lost answer is found: one redemption per address', async () => {
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

  test('for each of two addresses, when another account proves one of them', async () => {
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

  test('after an absent redemption and a found one, and after it proves another address', async () => {
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

  test('and gets a late applicant of an earlier redemption, even after later redemptions', async () => {
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
    'and gets a late applicant at its first subject, even after it proves the address again (%s)',
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

describe('a second redemption for a prover after RED', () => {
  async function retrying() {
    const s = ownershipSetup()
    const a = await s.redeem()
    await s.verdict(a, 'rejected')
    return { ...s, a, owner: await s.proveIt(X) }
  }

  test('whose answer is lost is found by its name: no further token is redeemed', async () => {
    const s = await retrying()
    const n = await s.loseOne()
    await s.expire()
    s.provider.deleted.clear()
    expect(await s.reuses()).toBe(false)
    expect(s.holds(s.owner)).toEqual([s.of(n, 'init')])
    expect(s.provider.redeemed).toHaveLength(2)
  })

  test('that is absent leaves the rejection, and a fresh token is redeemed', async () => {
    const s = ownershipSetup()
    const a = await s.redeem()
    await s.verdict(a, 'rejected')
    const n = await s.loseOne()
    const u = await s.proveIt(X)
    await s.end(n, 'absent')
    expect(s.holds(u)).toEqual([`${a} rejected`])
    expect(await s.reuses()).toBe(true)
  })

  test('replaces the rejected applicant, even if that review changed meanwhile', async () => {
    const s = await retrying()
    const n = await s.loseOne()
    await s.verdict(s.a, 'pending')
    await s.end(n, 'redeemed')
    await s.verdict(`applicant of ${n}`, 'approved')
    expect(await s.shareFor(X)).toMatchObject({ reviewAnswer: 'GREEN', reused: false })
  })

  test('for another address is answered with its own review', async () => {
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

  test('stays with its account when another account proves the address meanwhile, and replaces the rejected applicant', async () => {
    const s = await retrying()
    const n = await s.loseOne()
    const since = await s.proveIt(X)
    await s.end(n, 'redeemed')
    expect([s.holds(s.owner), s.holds(since)]).toEqual([[s.of(n, 'init')], []])
    expect(await s.reuses()).toBe(true)
  })

  test('for a second address that another account proves meanwhile leaves the first verification unchanged', async () => {
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

describe('an account that gives an address up', () => {
  const starts = ['placeholder', 'carrier', 'prover'] as const
  const nexts = ['nobody', 'registers', 'proves', 'first'] as const
  test.each(starts.flatMap((start) => nexts.map((next) => [start, next] as const)))(
    'keeps the verification shared since its proof: shared for a %s, then %s',
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

  test.each([shop, otherShop])(
    'leaves the address free for its next owner, and for any integration: %s',
    async (by) => {
      const s = await gaveUp()
      await s.redeem(Y)
      expect(s.holds(s.since)).toEqual([])
      expect(await s.reuses(X, by)).toBe(true)
    },
  )

  test('keeps an approval that arrives meanwhile', async () => {
    const s = await gaveUp()
    const n = await s.loseOne(Y)
    await s.verdict(s.a, 'approved')
    await s.end(n, 'redeemed')
    expect(s.holds(s.since)).toEqual([])
    expect(s.holds(s.owner)).toContain(s.of(n, 'init'))
  })

  test('keeps its former verification when a redemption for another address is absent', async () => {
    const s = await gaveUp()
    const n = await s.loseOne(Y)
    await s.end(n, 'absent')
    expect(s.holds(s.owner)).toEqual([`${s.a} rejected`])
    expect(s.holds(s.since)).toEqual([])
  })
})

test('a late answer changes only its own applicant, at the subject of its redemption', async () => {
  const s = ownershipSetup()
  const u = await s.proveIt(X)
  const n = await s.loseOne()
  await s.proveAs(u, Y)
  await s.end(n, 'redeemed')
  const key = await s.keyOf(X)
  const found = s.subjectsOf(u).find(({ applicantId }) => applicantId === `applicant of ${n}`)
  expect(found).toMatchObject({ emailKey: key, closed: true })
})
