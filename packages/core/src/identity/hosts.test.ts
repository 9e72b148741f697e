/**
 * docs/interface.md 4.2: a host with users of its own says whose an address is; the store's accounts have no part in
 * it.
 */
import { describe, expect, test } from 'vitest'
import {
  approved,
  begun,
  email,
  first,
  identitySetup,
  otherEmail,
  rejected,
  shop,
} from '../../test/support/identity-setup.js'

/** A host whose user owns or carries the address. */
async function hosted(owner: { accountId: string; proved: boolean } | null = { accountId: 'user-7', proved: true }) {
  const setup = identitySetup({ hosted: true })
  const setOwner = async (given: typeof owner, address = email) => {
    const key = await setup.keyOf(address)
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

/** The ways in which the service learns of a redemption. */
const endings: Readonly<Record<string, (setup: Awaited<ReturnType<typeof hosted>>) => Promise<unknown>>> = {
  'the request': ({ share }) => share(),
  'a webhook': async ({ lose, webhook }) => {
    await lose()
    return webhook(approved)
  },
  'the poll': async ({ lose, expire, identity }) => {
    await lose()
    await expire()
    return identity.pollDue()
  },
  'an operator': async ({ lose, expire, identity }) => {
    await lose()
    await expire()
    return identity.resolveRedemption({ externalUserId: first, applicantId: `applicant of ${first}` })
  },
  'the next request': async ({ lose, expire, share }) => {
    await lose()
    await expire()
    return share()
  },
}

test.each(Object.entries(endings))('a redemption that %s completes belongs to the host’s user', async (_, end) => {
  const setup = await hosted()
  await end(setup)
  expect(setup.has('user-7')).toEqual([`applicant of ${first}`])
  expect(setup.provider.redeemed).toHaveLength(1)
})

test('a user has one verification for all addresses; after its rejection a token for another address is redeemed', async () => {
  const { share, shareFor, setOwner, webhook, has } = await hosted()
  await setOwner({ accountId: 'user-7', proved: true }, otherEmail)
  await share()
  await webhook(approved)
  expect(await shareFor(otherEmail)).toEqual({ ...approved, reused: false })
  await webhook(rejected, { key: 'red' })
  expect(await shareFor(otherEmail)).toEqual({ ...begun, reused: true })
  expect(has('user-7')).toHaveLength(2)
})

describe('a proof that the host reports', () => {
  test('gives a placeholder and its verification to the user who proves the address', async () => {
    const { share, proveAs, has, accountEvents, keyOf } = await hosted(null)
    await share()
    await proveAs('user-1', email)
    expect(has('user-1')).toHaveLength(1)
    const emailKey = await keyOf(email)
    expect(accountEvents()).toMatchObject([{ action: 'proved', emailKey, accountId: 'user-1', proof: null }])
  })

  test('transfers an address that another user only carried', async () => {
    const { share, proveAs, has } = await hosted({ accountId: 'carrier', proved: false })
    await share()
    await proveAs('user-1', email)
    expect([has('carrier'), has('user-1').length]).toEqual([[], 1])
  })

  test('shows nothing of a user who proved the address before', async () => {
    const { share, proveAs, has, webhook } = await hosted()
    await share()
    await webhook(approved)
    await proveAs('user-8', email)
    expect([has('user-7').length, has('user-8')]).toEqual([1, []])
    expect(await share()).toEqual({ ...begun, reused: true })
    expect([has('user-7').length, has('user-8').length]).toEqual([1, 1])
  })

  test('closes the user’s proved subjects, and transfers the carried ones', async () => {
    const { shareFor, proveAs, has, subjectOf, setOwner, webhook } = await hosted(null)
    await setOwner({ accountId: 'user-1', proved: false }, 'carried@example.com')
    await shareFor('carried@example.com')
    await webhook(rejected)
    await proveAs('user-1', email)
    expect(await subjectOf('carried@example.com')).toMatchObject({ accountId: null, donor: shop })
    await shareFor(email)
    await proveAs('user-1', otherEmail)
    expect(has('user-1')).toHaveLength(1)
  })

  test('before the first share counts for that share', async () => {
    const { share, proveAs, has, subjectsOf } = await hosted(null)
    await proveAs('user-1', email)
    expect(subjectsOf('user-1')).toMatchObject([{ proved: true, donor: null }])
    await share()
    expect(has('user-1')).toHaveLength(1)
  })
})

describe('when a host does not report a proof, its next answer corrects the owner', () => {
  test('a new owner of a mailbox sees nothing of the former user', async () => {
    const { share, webhook, setOwner, has, provider } = await hosted()
    await share()
    await webhook(approved)
    await setOwner({ accountId: 'user-8', proved: true })
    expect(await share()).toEqual({ ...begun, reused: true })
    expect([has('user-7').length, has('user-8').length]).toEqual([1, 1])
    expect(provider.redeemed).toHaveLength(2)
  })

  test.each([null, { accountId: 'user-8', proved: false }])(
    'a mailbox that nobody owns any more (%j) shows nothing of the former user',
    async (owner) => {
      const { share, webhook, setOwner, has } = await hosted()
      await share()
      await webhook(approved)
      await setOwner(owner)
      expect(await share()).toEqual({ ...begun, reused: true })
      expect(has('user-7')).toHaveLength(1)
    },
  )

  test('an address that a user only carried goes to the next user who carries it', async () => {
    const { share, setOwner, has, webhook } = await hosted({ accountId: 'user-7', proved: false })
    await share()
    await webhook(approved)
    await setOwner({ accountId: 'user-8', proved: false })
    expect(await share()).toEqual({ ...approved, reused: false })
    expect([has('user-7'), has('user-8').length]).toEqual([[], 1])
  })

  test('a user who carries an address unproved gets no earlier share', async () => {
    const { share, setOwner, has, webhook, subject } = await hosted(null)
    await share()
    await setOwner({ accountId: 'user-8', proved: false })
    await webhook(rejected)
    await share()
    expect(has('user-8')).toEqual([])
    expect(subject()).toMatchObject({ accountId: null, attachedNumber: 2 })
  })
})

test('when a proof is reported while the host answers with the former owner, the owner is resolved again', async () => {
  const { host, identity, share, has, provider } = await hosted()
  const { resolve } = host
  let reported = false
  host.resolve = async (address) => {
    const owner = await resolve(address)
    if (!reported) {
      reported = true
      host.owners.set(address.key, { accountId: 'user-8', proved: true })
      await identity.proved({ email, accountId: 'user-8' })
    }
    return owner
  }
  expect(await share()).toMatchObject({ reused: true })
  expect([has('user-7'), has('user-8').length]).toEqual([[], 1])
  expect(provider.redeemed).toHaveLength(1)
})

test('an answer `undefined` of the host means that nobody has the address', async () => {
  const { host, share, subject } = await hosted()
  host.resolve = async () => undefined as never
  expect(await share()).toMatchObject({ reused: true })
  expect(subject()).toMatchObject({ accountId: null })
})
