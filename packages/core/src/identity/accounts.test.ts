/** docs/interface.md 4.2: the account that gets a registered, proven or attested address. */
import { expect, test } from 'vitest'
import { email, identitySetup, otherShop, shop, subjectWith } from '../../test/support/identity-setup.js'
import { EmailProofError, InvalidShareRequestError } from '../errors.js'
import type { AddressOwner } from '../ports/identity.js'
import type { Store } from '../ports/store.js'
import { decideProof, type ProofFacts } from './accounts.js'
import { codeLifetimeMs } from './emails.js'
import type { PersonQuery } from './identity-store.js'
import { decideAccountOrPlaceholder } from './resolve-account.js'

async function setUp() {
  const setup = identitySetup()
  const accounts = await setup.identity.accounts()
  return { ...setup, accounts, code: async (address = email) => (await accounts.requestCode(address)).code }
}

test('a code is returned with the address in its normal form', async () => {
  const { accounts, clock } = await setUp()
  expect(await accounts.requestCode(' JOSE\u0301@B\u00dcCHER.example. ')).toEqual({
    ...{ address: 'jos\u00e9@xn--bcher-kva.example', code: expect.any(String) },
    expiresAt: clock.now() + codeLifetimeMs,
  })
})

test('a code is rejected after five wrong codes; a rejected code changes no account and no subject', async () => {
  const { accounts, accountEvents, code, memory } = await setUp()
  const sent = await code()
  for (let tried = 0; tried < 5; tried += 1)
    await expect(accounts.proveByCode(email, 'AAAAAAAAAAAA')).rejects.toThrow(EmailProofError)
  await expect(accounts.proveByCode(email, sent)).rejects.toThrow(EmailProofError)
  expect(accountEvents().map(({ reason }) => reason)).toEqual([null, ...Array(5).fill('code_wrong'), 'no_code'])
  expect([memory.committed.accounts, memory.committed.subjects]).toEqual([[], []])
})

test('a code ends with the next one, and is accepted once, even from ten concurrent requests', async () => {
  const { accounts, code } = await setUp()
  const [replaced, sent] = [await code(), await code()]
  await expect(accounts.proveByCode(email, replaced)).rejects.toThrow(EmailProofError)
  const used = await Promise.allSettled(Array.from({ length: 10 }, () => accounts.proveByCode(email, sent)))
  expect(used.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

test('a proof locks its account and the owner in one call, and begins again when the owner changed before', async () => {
  const { start, store, share, register, code } = await setUp()
  await share()
  const [prover, owner, sent] = [await register('other@example.com'), await register(), await code()]
  const locked: PersonQuery['accountIds'][] = []
  let looks = 0
  const transaction: Store['transaction'] = (work) =>
    store.transaction((tx) => {
      const lockPersons = (query: PersonQuery) => {
        locked.push(query.accountIds)
        return tx.identity.lockPersons(query)
      }
      // At the first look nobody has registered with the address yet.
      const findAddressOwner = async (key: string) => (++looks === 1 ? null : tx.identityAccounts.findAddressOwner(key))
      const identityAccounts = { ...tx.identityAccounts, findAddressOwner }
      return work({ ...tx, identity: { ...tx.identity, lockPersons }, identityAccounts })
    })
  const accounts = await start({ store: { ...store, transaction } }).accounts()
  await accounts.proveByCode(email, sent, { accountId: prover })
  expect(locked).toEqual([[prover], [prover, owner]])
})

test('no account gets an address if the account is unknown', async () => {
  const { accounts, share, code } = await setUp()
  await share()
  const nobody = { accountId: 'nobody' }
  await expect(accounts.proveByAttestation(email, shop, nobody)).rejects.toThrow(EmailProofError)
  await expect(accounts.proveByCode(email, await code(), nobody)).rejects.toThrow(EmailProofError)
  expect(await accounts.proveByAttestation(email, shop)).toMatchObject({ emailVerified: true })
})

test('no account gets an address if the address is invalid', async () => {
  const { accounts, identity } = await setUp()
  await expect(accounts.register('user@')).rejects.toThrow(InvalidShareRequestError)
  await expect(accounts.requestCode('user@')).rejects.toThrow(InvalidShareRequestError)
  await expect(accounts.proveByCode('user@', 'x')).rejects.toThrow(InvalidShareRequestError)
  await expect(accounts.proveByAttestation('', shop)).rejects.toThrow(InvalidShareRequestError)
  await expect(identity.reportProof({ email: 'user@', accountId: 'x' })).rejects.toThrow(InvalidShareRequestError)
  await expect(identity.emailKey('user@')).rejects.toThrow(InvalidShareRequestError)
})

test('registrations, codes, proofs and rejections are logged by keyed hash, with account, time and method', async () => {
  const { accounts, share, accountEvents, getKey, clock, register, code } = await setUp()
  await share()
  await expect(accounts.proveByAttestation(email, otherShop)).rejects.toThrow(EmailProofError)
  const { accountId: owner } = await accounts.proveByAttestation(email, shop)
  const accountId = await register()
  await accounts.proveByCode(email, await code(), { accountId })
  const emailKey = await getKey(email)
  const logged = { at: clock.now(), emailKey, accountId: null, proof: null, by: null, reason: null }
  expect(accountEvents()).toEqual([
    { ...logged, action: 'rejected', proof: 'attestation', by: otherShop, reason: 'not_donor' },
    { ...logged, action: 'proved', accountId: owner, proof: 'attestation', by: shop },
    { ...logged, action: 'registered', accountId },
    { ...logged, action: 'code_issued', proof: 'code' },
    { ...logged, action: 'proved', accountId, proof: 'code' },
  ])
  expect(JSON.stringify(accountEvents())).not.toContain('canary')
})

const open = subjectWith({ id: 'open' })
const facts: ProofFacts = {
  openSubject: open,
  subjects: [open],
  proof: { kind: 'code' },
  signedIn: undefined,
  freshId: 'new',
}
const attestation = { kind: 'attestation', integrationAddress: shop.toUpperCase().replace('0X', '0x') } as const
const give = (accountId: string) => ({ kind: 'give', accountId, closed: [], carried: [] })
const reject = (reason: string) => ({ kind: 'reject', reason })
const donated = subjectWith({ id: 'open', donor: shop })
const owned = { ...donated, accountId: 'a' }

test.each([
  ['by code, not signed in: a placeholder gets a new account', {}, give('new')],
  ['by code, not signed in: the account of the subject', { openSubject: subjectWith({ accountId: 'a' }) }, give('a')],
  ['by code, signed in', { openSubject: subjectWith({ accountId: 'a' }), signedIn: 'b' }, give('b')],
  ['by code, for an unknown account', { signedIn: null }, reject('unknown_account')],
  ['by attestation of the donor', { openSubject: donated, proof: attestation }, give('new')],
  ['by attestation of the donor, signed in', { openSubject: donated, proof: attestation, signedIn: 'b' }, give('b')],
  [
    'by attestation of another',
    { openSubject: subjectWith({ donor: otherShop }), proof: attestation },
    reject('not_donor'),
  ],
  ['by attestation where nothing is attached', { proof: attestation }, reject('not_donor')],
  [
    'by attestation of an address that nobody shared for',
    { openSubject: null, proof: attestation },
    reject('not_donor'),
  ],
  [
    'by attestation of an address that an account has',
    { openSubject: owned, proof: attestation },
    reject('not_placeholder'),
  ],
  [
    'by attestation, for no account',
    { openSubject: donated, proof: attestation, signedIn: null },
    reject('unknown_account'),
  ],
] as const)('a proof %s', (_, given, decision) => {
  expect(decideProof({ ...facts, ...given })).toEqual(decision)
})

test('a proof closes the proved subjects of its account, transfers the carried ones, and leaves other subjects unchanged', () => {
  const had = subjectWith({ id: 'proved', accountId: 'a', proved: true })
  const carriedOne = subjectWith({ id: 'carried', accountId: 'a' })
  const others = [
    subjectWith({ id: 'closed', accountId: 'a', proved: true, closed: true }),
    subjectWith({ id: 'direct', accountId: 'a', emailKey: null }),
    subjectWith({ id: 'of another account', accountId: 'b', proved: true }),
  ]
  const subjects = [open, had, carriedOne, ...others]
  const decision = { kind: 'give', accountId: 'a', closed: [had], carried: [carriedOne] }
  expect(decideProof({ ...facts, subjects, signedIn: 'a' })).toEqual(decision)
})

const placeholder = { accountId: null, proved: false, redemptions: 0 }
const shared = { ...placeholder, redemptions: 1 }
const carried = { accountId: 'a', proved: false, redemptions: 1 }
const proved = { accountId: 'a', proved: true, redemptions: 1 }
const owns = (accountId: string): AddressOwner => ({ accountId, proved: true })
const carries = (accountId: string): AddressOwner => ({ accountId, proved: false })
const nobody = { accountId: null, proved: false }

test.each([
  ['a placeholder, and nobody has the address', placeholder, null, nobody],
  ['a placeholder without redemptions, and somebody carries the address', placeholder, carries('a'), carries('a')],
  ['a placeholder with redemptions, and somebody carries the address', shared, carries('a'), nobody],
  ['a placeholder, and somebody proved the address', shared, owns('a'), owns('a')],
  ['carried, and its account still carries it', carried, carries('a'), carries('a')],
  ['carried, and its account proved it', carried, owns('a'), owns('a')],
  ['carried, and another account proved it', carried, owns('b'), owns('b')],
  ['carried, and another account carries it now', carried, carries('b'), carries('b')],
  ['carried, and nobody has it now', carried, null, nobody],
  ['proved, and its account still owns it', proved, owns('a'), owns('a')],
  ['proved, and the host answers that its account only carries it', proved, carries('a'), owns('a')],
  ['proved, and another account proved it', proved, owns('b'), null],
  ['proved, and another account carries it now', proved, carries('b'), null],
  ['proved, and nobody has it now', proved, null, null],
] as const)('the open subject of an address: %s', (_, open, owner, decision) => {
  expect(decideAccountOrPlaceholder(open, owner)).toEqual(decision)
})
