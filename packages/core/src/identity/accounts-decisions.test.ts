import { expect, test } from 'vitest'
import { otherShop, shop } from '../../test/support/identity-setup.js'
import { subjectWith } from '../../test/support/subject-with.js'
import type { AddressOwner } from '../ports/identity.js'
import { decideProof, decideSubjectOwner, type ProofFacts } from './accounts.js'

const open = subjectWith({ id: 'open' })
const facts: ProofFacts = { open, subjects: [open], proof: { kind: 'code' }, signedIn: undefined, freshId: 'new' }
const attestation = { kind: 'attestation', integrationAddress: shop.toUpperCase().replace('0X', '0x') } as const
const give = (accountId: string) => ({ kind: 'give', accountId, closed: [], carried: [] })
const reject = (reason: string) => ({ kind: 'reject', reason })
const donated = subjectWith({ id: 'open', donor: shop })

test.each([
  ['by code, not signed in: a placeholder gets a new account', {}, give('new')],
  ['by code, not signed in: the account of the subject', { open: subjectWith({ accountId: 'a' }) }, give('a')],
  ['by code, signed in', { open: subjectWith({ accountId: 'a' }), signedIn: 'b' }, give('b')],
  ['by code, for an unknown account', { signedIn: null }, reject('unknown_account')],
  ['by attestation of the donor', { open: donated, proof: attestation }, give('new')],
  ['by attestation of the donor, signed in', { open: donated, proof: attestation, signedIn: 'b' }, give('b')],
  ['by attestation of another', { open: subjectWith({ donor: otherShop }), proof: attestation }, reject('not_donor')],
  ['by attestation where nothing is attached', { proof: attestation }, reject('not_donor')],
  ['by attestation of an address that nobody shared for', { open: null, proof: attestation }, reject('not_donor')],
  [
    'by attestation of an address that an account has',
    { open: { ...donated, accountId: 'a' }, proof: attestation },
    reject('not_placeholder'),
  ],
  ['by attestation, for no account', { open: donated, proof: attestation, signedIn: null }, reject('unknown_account')],
] as const)('a proof %s', (_, given, decision) => {
  expect(decideProof({ ...facts, ...given })).toEqual(decision)
})

test('a proof closes the proved subjects of its account, transfers the carried ones, and leaves other subjects unchanged', () => {
  const [had, carriedOne] = [
    subjectWith({ id: 'proved', accountId: 'a', proved: true }),
    subjectWith({ id: 'carried', accountId: 'a' }),
  ]
  const others = [
    subjectWith({ id: 'closed', accountId: 'a', proved: true, closed: true }),
    subjectWith({ id: 'direct', accountId: 'a', emailKey: null }),
    subjectWith({ id: 'of another account', accountId: 'b', proved: true }),
  ]
  const subjects = [open, had, carriedOne, ...others]
  expect(decideProof({ ...facts, subjects, signedIn: 'a' })).toEqual({
    ...{ kind: 'give', accountId: 'a', closed: [had], carried: [carriedOne] },
  })
})

const placeholder = { accountId: null, proved: false, redemptions: 0 }
const shared = { ...placeholder, redemptions: 1 }
const carried = { accountId: 'a', proved: false, redemptions: 1 }
const proved = { accountId: 'a', proved: true, redemptions: 1 }
const owns = (accountId: string): AddressOwner => ({ accountId, proved: true })
const carries = (accountId: string): AddressOwner => ({ accountId, proved: false })
const same = { kind: 'same' }
const set = (accountId: string | null, isProved: boolean) => ({ kind: 'set', accountId, proved: isProved })
const replace = { kind: 'replace' }

test.each([
  ['a placeholder, and nobody has the address', placeholder, null, same],
  ['a placeholder without redemptions, and somebody carries the address', placeholder, carries('a'), set('a', false)],
  ['a placeholder with redemptions, and somebody carries the address', shared, carries('a'), same],
  ['a placeholder, and somebody proved the address', shared, owns('a'), set('a', true)],
  ['carried, and its account still carries it', carried, carries('a'), same],
  ['carried, and its account proved it', carried, owns('a'), set('a', true)],
  ['carried, and another account proved it', carried, owns('b'), set('b', true)],
  ['carried, and another account carries it now', carried, carries('b'), set('b', false)],
  ['carried, and nobody has it now', carried, null, set(null, false)],
  ['proved, and its account still owns it', proved, owns('a'), same],
  ['proved, and the host answers that its account only carries it', proved, carries('a'), same],
  ['proved, and another account proved it', proved, owns('b'), replace],
  ['proved, and another account carries it now', proved, carries('b'), replace],
  ['proved, and nobody has it now', proved, null, replace],
] as const)('the open subject of an address: %s', (_, open, owner, decision) => {
  expect(decideSubjectOwner(open, owner)).toEqual(decision)
})
