import { expect, test } from 'vitest'
import { identitySetup, otherShop, shop } from '../../test/support/identity-setup.js'
import { attachApplicant, checkNamespace, formatExternalUserId, isAttachable } from './redemption.js'

test('a redemption has one name, and two redemptions never share one', () => {
  const names = ['pi', 'pi-a'].flatMap((namespace) =>
    ['a', 'a-1', 'b'].flatMap((subject) => [1, 2, 11].map((n) => formatExternalUserId(namespace, subject, n))),
  )
  expect(new Set(names).size).toBe(names.length)
  expect(formatExternalUserId('pi', 'a', 1)).toBe('pi:a:1')
})

test('names begin with the namespace, and a malformed namespace is rejected before anything runs', async () => {
  const { provider, start } = identitySetup()
  await start({ namespace: 'pi-staging' }).share({ integrationAddress: '0x1', email: 'a@b.example', shareToken: 't' })
  expect(provider.redeemed).toMatchObject([{ externalUserId: 'pi-staging:s1:1' }])
  for (const namespace of ['', 'a:b', 'a/b', ' a', 'x'.repeat(33)]) {
    expect(() => checkNamespace(namespace), namespace).toThrow(TypeError)
    expect(() => start({ namespace }), namespace).toThrow(TypeError)
  }
})

const none = { donor: null, attachedNumber: null }
const own = { donor: shop, attachedNumber: 2 }

test.each([
  ['to a subject without an applicant', none, 1, true],
  ['in place of an older one of the same integration', own, 3, true],
  ['in place of a newer one of the same integration', own, 1, false],
  ['in place of itself', own, 2, false],
  ['in place of one of another integration', { ...own, donor: otherShop }, 3, false],
] as const)('whether an applicant is attached %s', (_, subject, number, attaches) => {
  expect(isAttachable(subject, { integrationAddress: shop, number })).toBe(attaches)
})

test('an applicant that is attached already is answered as attached, and its newer verdict stays', async () => {
  const { share, store, clock, logger, subject, identity, outcomes } = identitySetup()
  await share()
  const [redemption] = await identity.redemptions({ limit: 1 })
  if (redemption === undefined) throw new Error('there is no redemption')
  const before = subject()
  const attachment = { redemption, applicant: { applicantId: before.applicantId ?? '', review: null } } as const
  const attached = await store.transaction((tx) =>
    attachApplicant(tx, { ...attachment, outcome: 'found' }, { clock, logger }),
  )
  expect(attached).toMatchObject({ isAttached: true, donor: shop })
  expect(subject()).toEqual(before)
  expect(outcomes()).toEqual(['started', 'redeemed', 'found'])
})

test('an applicant that may not be attached is surplus, and is logged as an error', async () => {
  const { share, store, clock, logger, subject, identity, states, seedSubject, errors, history } = identitySetup()
  await share()
  const [redemption] = await identity.redemptions({ limit: 1 })
  if (redemption === undefined) throw new Error('there is no redemption')
  seedSubject('s1', { donor: otherShop })
  const before = subject()
  const late = { ...redemption, externalUserId: 'pi:s1:2', number: 2 }
  await store.transaction((tx) => tx.identity.addRedemption({ ...late, leaseMs: 1 }))
  const attachment = { redemption: late, applicant: { applicantId: 'late', review: null } } as const
  const attached = await store.transaction((tx) =>
    attachApplicant(tx, { ...attachment, outcome: 'reported' }, { clock, logger }),
  )
  expect(attached).toMatchObject({ isAttached: false, donor: otherShop })
  expect(subject()).toEqual({ ...before, redemptions: 2 })
  expect(states()).toEqual(['attached', 'surplus'])
  expect(errors()).toHaveLength(1)
  expect(history().at(-1)).toBe('webhook review surplus')
})
