import { describe, expect, test } from 'vitest'
import { otherShop, shop } from '../../test/support/identity-setup.js'
import { subjectWith } from '../../test/support/subject-with.js'
import { decideProof, type ProofFacts } from './accounts.js'

describe('a proof', () => {
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
    [
      'by attestation of another integration',
      { open: subjectWith({ donor: otherShop }), proof: attestation },
      reject('not_donor'),
    ],
    ['by attestation where nothing is attached', { proof: attestation }, reject('not_donor')],
    ['by attestation of an address that nobody shared for', { open: null, proof: attestation }, reject('not_donor')],
    [
      'by attestation of an address that an account has',
      { open: { ...donated, accountId: 'a' }, proof: attestation },
      reject('not_placeholder'),
    ],
    [
      'by attestation, for an unknown account',
      { open: donated, proof: attestation, signedIn: null },
      reject('unknown_account'),
    ],
  ] as const)('%s', (_, given, decision) => {
    expect(decideProof({ ...facts, ...given })).toEqual(decision)
  })

  test('closes the proved subjects of its account, transfers the carried ones, and leaves other subjects unchanged', () => {
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
})
