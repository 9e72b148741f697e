import { describe, expect, test } from 'vitest'
import { approved, begun, otherShop, rejected, shop } from '../../test/support/share-setup.js'
import type { IdentityAccount } from '../ports/identity-accounts.js'
import type { Verification } from '../ports/store-verifications.js'
import { decideClaim, decideDirect, leaves, nothingShared, selfDonor, takes } from './decide-claim.js'

const placeholder: IdentityAccount = { accountId: 'held', kind: 'placeholder', emailVerified: false }
const carrier: IdentityAccount = { accountId: 'held', kind: 'registered', emailVerified: false }
const owner: IdentityAccount = { accountId: 'held', kind: 'registered', emailVerified: true }
const prover: IdentityAccount = { accountId: 'prover', kind: 'registered', emailVerified: false }
const code = { kind: 'code' } as const
const attested = { kind: 'attestation', integrationAddress: shop } as const
const give = (accountId: string) => ({ kind: 'give', accountId })
const refuse = (reason: string) => ({ kind: 'refuse', reason })

describe('INTERFACE 4.2: who proves an address gets', () => {
  test.each([
    ['by code, the placeholder', { held: placeholder, donor: null, proof: code }, give('held')],
    ['by code, the account that carries it', { held: carrier, donor: null, proof: code }, give('held')],
    ['by code, the account that owns it', { held: owner, donor: null, proof: code }, give('held')],
    ['by code, the account that is signed in', { held: owner, donor: null, proof: code, prover }, give('prover')],
    [
      'by code, nothing for an account that is none',
      { held: owner, donor: null, proof: code, prover: null },
      refuse('unknown_account'),
    ],
    [
      'by attestation, the placeholder of that share',
      { held: placeholder, donor: shop, proof: attested },
      give('held'),
    ],
    [
      'by attestation in any case of the address',
      {
        held: placeholder,
        donor: shop,
        proof: { ...attested, integrationAddress: shop.toUpperCase().replace('0X', '0x') },
      },
      give('held'),
    ],
    [
      'by attestation, it for the account that is signed in',
      { held: placeholder, donor: shop, proof: attested, prover },
      give('prover'),
    ],
    [
      'by attestation, nothing for an account that is none',
      { held: placeholder, donor: shop, proof: attested, prover: null },
      refuse('unknown_account'),
    ],
    [
      'by attestation of another integration, nothing',
      { held: placeholder, donor: otherShop, proof: attested },
      refuse('not_donor'),
    ],
    [
      'by attestation without a share, nothing',
      { held: placeholder, donor: null, proof: attested },
      refuse('not_donor'),
    ],
    [
      'by attestation over a direct verification, nothing',
      { held: placeholder, donor: selfDonor, proof: attested },
      refuse('not_donor'),
    ],
    [
      'by attestation, no account that carries it, whoever shared',
      { held: carrier, donor: shop, proof: attested },
      refuse('not_placeholder'),
    ],
    [
      'by attestation, no account that owns it, whoever shared',
      { held: owner, donor: shop, proof: attested, prover },
      refuse('not_placeholder'),
    ],
  ] as const)('%s', (_, facts, decision) => {
    expect(decideClaim(facts)).toEqual(decision)
  })
})

const empty: Verification = {
  ...nothingShared,
  ...{ accountId: 'a', attempts: 0, claim: null },
}
const running = { token: 't', by: shop, externalUserId: 'a-1', lapsed: false }
const lapsed = { ...running, lapsed: true }
const shared = { ...empty, donor: shop, applicantId: 'x', review: begun, attempts: 1 }

test.each([
  ['what was shared goes along', shared, true],
  ['nothing does where nothing is', empty, false],
  ['a direct one stays with who did it', { ...shared, donor: selfDonor }, false],
  ['one whose redemption runs stays', { ...shared, claim: running }, false],
  ['one whose redemption has no known end stays', { ...shared, claim: lapsed }, false],
] as const)('when an address changes hands, %s', (_, from, isLeaving) => {
  expect(leaves(from)).toBe(isLeaving)
})

test.each([
  ['one without a verification takes it', empty, true],
  ['a direct one is not displaced', { ...shared, donor: selfDonor }, false],
  ['one that was shared is not displaced', { ...shared, donor: otherShop }, false],
  ['a redemption is not displaced', { ...empty, claim: running }, false],
] as const)('when something comes along with an address, %s', (_, to, isTaken) => {
  expect(takes(to)).toBe(isTaken)
})

test.each([
  ['nothing is there', empty, 'recorded'],
  ['a shared one is in flight', shared, 'recorded'],
  ['a shared one was rejected', { ...shared, review: rejected }, 'recorded'],
  ['a shared one is approved', { ...shared, review: approved }, 'kept'],
  ['a redemption runs', { ...empty, claim: running }, 'busy'],
  ['a redemption runs again after a rejection', { ...shared, review: rejected, claim: running }, 'busy'],
  ['a redemption has no known end', { ...empty, claim: lapsed }, 'recorded'],
  ['an older word of the same is there', { ...shared, donor: selfDonor, reviewedAt: 99 }, 'recorded'],
  ['a word of the same time is there', { ...shared, donor: selfDonor, reviewedAt: 100 }, 'recorded'],
  ['a newer word of the same is there', { ...shared, donor: selfDonor, review: approved, reviewedAt: 101 }, 'kept'],
] as const)('a direct verification where %s', (_, found, decision) => {
  expect(decideDirect(found, 100)).toBe(decision)
})
