/** docs/interface.md 4.2: the account that gets a registered, proven or attested address. */
import { expect, test } from 'vitest'
import { email, identitySetup, otherShop, shop } from '../../test/support/identity-setup.js'
import { EmailProofError, InvalidShareRequestError } from '../errors.js'
import type { Store } from '../ports/store.js'
import { codeLifetimeMs } from './emails.js'
import type { PersonQuery } from './identity-store.js'

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
    { ...logged, action: 'refused', proof: 'attestation', by: otherShop, reason: 'not_donor' },
    { ...logged, action: 'proved', accountId: owner, proof: 'attestation', by: shop },
    { ...logged, action: 'registered', accountId },
    { ...logged, action: 'code_issued', proof: 'code' },
    { ...logged, action: 'proved', accountId, proof: 'code' },
  ])
  expect(JSON.stringify(accountEvents())).not.toContain('canary')
})
