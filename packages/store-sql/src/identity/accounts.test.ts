import type { EmailAddress } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { onBothDatabases } from '../../test/support/old-databases.js'
import { createStore } from '../create-store.js'
import type { Engine } from '../engine.js'
import { pack } from '../internal/values.js'
import { createIdentityAccounts } from './accounts.js'

const email = (n: number): EmailAddress => ({
  address: `user${n}@example.com`,
  key: n.toString(16).padStart(64, '0'),
  sealed: { keyVersion: 1, sealed: `sealed ${n}` },
})

onBothDatabases((empty) => {
  async function setup() {
    const engine = await empty()
    await createStore(engine).migrate()
    let made = 0
    const statements: string[] = []
    const next = () => `fresh ${++made}`
    const { accounts, users } = watched(engine, statements, next)
    const { transaction } = createStore(engine)
    /** Gives a proven address to the account that it resolves to. */
    const claim = (of: EmailAddress) =>
      transaction(async (tx) => {
        const { accountId } = await tx.identityAccounts.hold(of, next())
        await tx.identityAccounts.own(of, accountId)
        return tx.identityAccounts.hold(of, next())
      })
    return { engine, accounts, users, statements, claim }
  }

  describe('an address resolves to', () => {
    test('the account that owns it, before an older one that carries it unverified', async () => {
      const { accounts, users } = await setup()
      await users.insert('older', email(1), false)
      await users.insert('owner', email(1), true)
      expect(await accounts.resolve(email(1))).toEqual({ accountId: 'owner' })
    })

    test('the oldest that carries it unverified, where nobody owns it', async () => {
      const { accounts, users } = await setup()
      await users.insert('stranger', email(2), true)
      await users.insert('older', email(1), false)
      await users.insert('a newer one', email(1), false)
      expect(await accounts.resolve(email(1))).toEqual({ accountId: 'older' })
    })

    test('a placeholder where nobody carries it, which no account that carries it unverified since takes', async () => {
      const { accounts, users } = await setup()
      await users.insert('stranger', email(2), false)
      const { accountId } = await accounts.resolve(email(1))
      expect(accountId).toMatch(/^fresh/)
      await users.insert('since', email(1), false)
      expect(await accounts.resolve(email(1))).toEqual({ accountId })
    })

    test('the account that came to own it since, in place of the placeholder', async () => {
      const { accounts, users, claim } = await setup()
      await accounts.resolve(email(1))
      await users.insert('owner', email(1), true)
      expect(await accounts.resolve(email(1))).toEqual({ accountId: 'owner' })
      expect(await claim(email(1))).toMatchObject({ accountId: 'owner' })
    })
  })

  describe('who proves an address gets', () => {
    test('the account that owns it, and the others keep theirs without the address', async () => {
      const { users, claim } = await setup()
      for (const [accountId, verified] of [
        ['older', false],
        ['owner', true],
        ['newer', false],
      ] as const)
        await users.insert(accountId, email(1), verified)
      expect(await claim(email(1))).toEqual({
        accountId: 'owner',
        kind: 'registered',
        emailVerified: true,
      })
      expect(await users.all()).toEqual(['newer: nothing', 'older: nothing', 'owner: owns it'])
    })

    test('the placeholder, before an account that carries it unverified since', async () => {
      const { accounts, users, claim } = await setup()
      const { accountId } = await accounts.resolve(email(1))
      await users.insert('since', email(1), false)
      expect(await claim(email(1))).toMatchObject({ accountId })
      expect(await users.all()).toEqual([`${accountId}: owns it`, 'since: nothing'])
    })

    test('the oldest that carries it unverified, where there is no placeholder', async () => {
      const { accounts, users, claim } = await setup()
      for (const accountId of ['older', 'a newer one']) await users.insert(accountId, email(1), false)
      expect(await claim(email(1))).toMatchObject({ accountId: 'older' })
      expect(await users.all()).toEqual(['a newer one: nothing', 'older: owns it'])
      expect(await accounts.resolve(email(1))).toEqual({ accountId: 'older' })
    })

    test('a new account, where nobody carries it', async () => {
      const { users, claim } = await setup()
      await users.insert('stranger', email(2), false)
      const { accountId } = await claim(email(1))
      expect(await users.all()).toEqual([`${accountId}: owns it`, 'stranger: carries it'])
    })
  })

  test('one statement of the same text resolves an address, whatever is stored', async () => {
    const { accounts, users, statements } = await setup()
    await users.insert('owner', email(1), true)
    await users.insert('unverified', email(2), false)
    await accounts.resolve(email(3))
    await users.insert('moved away', email(5), false)
    await accounts.resolve(email(5))
    await users.move('moved away', email(6))
    statements.length = 0
    for (const n of [1, 2, 3, 4, 5]) await accounts.resolve(email(n))
    expect(statements).toHaveLength(5)
    expect(new Set(statements).size).toBe(1)
  })

  test('the account that an address stuck to is checked whenever it is used', async () => {
    const { accounts, users } = await setup()
    for (const [n, accountId] of [
      [1, 'lost it'],
      [2, 'carries another'],
    ] as const) {
      await users.insert(accountId, email(n), false)
      expect(await accounts.resolve(email(n))).toEqual({ accountId })
    }
    await users.move('lost it', null)
    await users.move('carries another', email(9))
    await users.insert('next', email(2), false)
    expect((await accounts.resolve(email(1))).accountId).toMatch(/^fresh/)
    expect(await accounts.resolve(email(2))).toEqual({ accountId: 'next' })
  })
})

/** Accounts whose statements are noted, and rows of registered ones. */
function watched(engine: Engine, statements: string[], next: () => string) {
  const users = sql.raw(engine.differences.name('identity_users'))
  const noting: Engine = {
    ...engine,
    transaction: (work, options) =>
      engine.transaction(
        (db) =>
          work(
            new Proxy(db, {
              get(target, name) {
                const value = Reflect.get(target, name, target) as unknown
                if (name !== 'executeQuery' || typeof value !== 'function') return value
                return (query: { sql: string }) => {
                  statements.push(query.sql)
                  return value.call(target, query) as unknown
                }
              },
            }),
          ),
        options,
      ),
  }
  return {
    accounts: createIdentityAccounts(noting, { next }),
    users: {
      insert: (accountId: string, { key }: EmailAddress, verified: boolean) =>
        engine.transaction((db) =>
          sql`insert into ${users} (account_id, email_key, email_verified, created_at)
            values (${pack(accountId)}, ${key}, ${verified ? 1 : 0}, 1)`.execute(db),
        ),
      /** As a host that shares the database may: the account carries another address from now on, or none. */
      move: (accountId: string, to: EmailAddress | null) =>
        engine.transaction((db) =>
          sql`update ${users} set email_key = ${to?.key ?? null} where account_id = ${pack(accountId)}`.execute(db),
        ),
      async all() {
        const { rows } = await sql<{ account_id: string; email_key: string | null; email_verified: number | string }>`
          select account_id, email_key, email_verified from ${users}`.execute(engine.read)
        const stateOf = (key: string | null, verified: boolean) =>
          key === null ? 'nothing' : verified ? 'owns it' : 'carries it'
        return rows
          .map((row) => `${JSON.parse(row.account_id)}: ${stateOf(row.email_key, Number(row.email_verified) === 1)}`)
          .sort()
      },
    },
  }
}
