/** docs/interface.md 4.2: a host with users of its own says whose an address is, whatever accounts the store has. */
import { expect, test } from 'vitest'
import { approved, begun, email, identitySetup } from '../../test/support/identity-setup.js'

async function hosted(owner: { accountId: string; proved: boolean } | null = { accountId: 'user-7', proved: true }) {
  const setup = identitySetup({ hosted: true })
  const setOwner = async (given: typeof owner, address = email) => {
    const key = await setup.getKey(address)
    if (given === null) setup.host.owners.delete(key)
    else setup.host.owners.set(key, given)
  }
  await setOwner(owner)
  return { ...setup, setOwner }
}

test('an account of the store that proved the address does not count', async () => {
  const { share, identity, has } = await hosted()
  const accounts = await identity.accounts()
  const { accountId } = await accounts.register(email)
  await accounts.proveByCode(email, (await accounts.requestCode(email)).code, { accountId })
  await share()
  expect([has('user-7').length, has(accountId)]).toEqual([1, []])
})

test('a proof that the host reports gives a placeholder and its verification to the user who proves the address', async () => {
  const { share, proveAs, has, accountEvents, getKey } = await hosted(null)
  await share()
  await proveAs('user-1', email)
  expect(has('user-1')).toHaveLength(1)
  const emailKey = await getKey(email)
  expect(accountEvents()).toMatchObject([{ action: 'proved', emailKey, accountId: 'user-1', proof: null }])
})

test('when a host does not report a proof, its next answer corrects the owner: a new owner of a mailbox sees nothing of the former user', async () => {
  const { share, webhook, setOwner, has, provider } = await hosted()
  await share()
  await webhook(approved)
  await setOwner({ accountId: 'user-8', proved: true })
  expect(await share()).toEqual({ ...begun, reused: true })
  expect([has('user-7').length, has('user-8').length]).toEqual([1, 1])
  expect(provider.redeemed).toHaveLength(2)
})

test('when a proof is reported while the host answers with the former owner, the owner is resolved again', async () => {
  const { host, identity, share, has, provider } = await hosted()
  const { findAddressOwner } = host
  let reported = false
  host.findAddressOwner = async (address) => {
    const owner = await findAddressOwner(address)
    if (!reported) {
      reported = true
      host.owners.set(address.key, { accountId: 'user-8', proved: true })
      await identity.reportProof({ email, accountId: 'user-8' })
    }
    return owner
  }
  expect(await share()).toMatchObject({ reused: true })
  expect([has('user-7'), has('user-8').length]).toEqual([[], 1])
  expect(provider.redeemed).toHaveLength(1)
})
