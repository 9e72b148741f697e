/** docs/interface.md 4.2, 5 rule 3: the statements of a share reveal nothing about existing accounts. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createService, parseMasterKey, silentLogger } from '@payment-integration/core'
import type { Identity } from '@payment-integration/core/identity'
import type { IdentityProvider, Store } from '@payment-integration/core/ports'
import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { timingMasterKey } from '../../test/support/start-timing-server.js'
import { createUndiciSender } from '../sender/undici-sender.js'

const integrationAddress = `0x${'a1'.repeat(20)}`
const states = ['owned', 'carried unverified', 'of a placeholder', 'unknown'] as const
type State = (typeof states)[number]

const provider: IdentityProvider = {
  redeem: async ({ shareToken, externalUserId }) =>
    shareToken === 'refused'
      ? { kind: 'rejected', message: 'Token is invalid', providerCode: null }
      : { kind: 'redeemed', applicant: { applicantId: `of-${externalUserId}`, review: null } },
  find: async () => ({ kind: 'answer', value: null }),
  review: async () => ({ kind: 'answer', value: null }),
}

/** Statements of the store's connections, while a test records them. */
let ran: string[] | null = null

/** SQLite that reports its statements: its own classes cannot be observed from outside. */
function recording(database: DatabaseSyncInstance): DatabaseSyncInstance {
  const telling = <T extends object>(target: T, told: (name: string | symbol, first: unknown) => void) =>
    new Proxy(target, {
      get(_, name) {
        const value: unknown = Reflect.get(target, name)
        if (typeof value !== 'function') return value
        return (...args: unknown[]): unknown => {
          if (ran !== null) told(name, args[0])
          const result: unknown = value.apply(target, args)
          const sql = String(args[0])
          if (name === 'prepare') return telling(result as object, (of) => isRun(of) && ran?.push(sql))
          return result
        }
      },
    })
  return telling(database, (name, sql) => name === 'exec' && ran?.push(String(sql)))
}
const isRun = (name: string | symbol) => name === 'all' || name === 'run'

let store: Store
let identity: Identity
let path: string
let stop: () => Promise<void>
let addresses = 0

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'payment-integration-sharing-statements-'))
  path = join(folder, 'sharing.db')
  vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never)
  vi.doMock('@photostructure/sqlite', () => ({
    DatabaseSync: class {
      constructor(...args: ConstructorParameters<typeof DatabaseSync>) {
        // biome-ignore lint/correctness/noConstructorReturn: the store constructs it
        return recording(new DatabaseSync(...args))
      }
    },
  }))
  store = createSqliteStore({ path })
  await store.migrate()
  vi.doUnmock('@photostructure/sqlite')
  vi.restoreAllMocks()
  const sender = createUndiciSender()
  const masterKey = parseMasterKey(timingMasterKey)
  const service = createService({ store, sender, masterKey, logger: silentLogger, identity: { provider } })
  if (service.identity === null) throw new Error('The service was built without an identity provider.')
  identity = service.identity
  stop = async () => {
    await sender.close()
    await store.close()
    await rm(folder, { recursive: true, force: true })
  }
})
afterAll(() => stop())

const share = (email: string, shareToken = 'good') => identity.share({ integrationAddress, email, shareToken })

/** Addresses without a shared verification, each in this state. */
async function prepare(state: State, count: number): Promise<string[]> {
  const emails = Array.from({ length: count }, () => `user${String(++addresses).padStart(8, '0')}@shop.example`)
  if (state === 'owned') {
    const accounts = await identity.accounts()
    for (const email of emails) await accounts.proveByCode(email, (await accounts.requestCode(email)).code)
  }
  if (state === 'of a placeholder')
    for (const email of emails)
      await expect(share(email, 'refused')).rejects.toMatchObject({ code: 'ERR_SHARE_TOKEN_REJECTED' })
  if (state === 'carried unverified') {
    const accounts = await identity.accounts()
    for (const email of emails) await accounts.register(email)
  }
  return emails
}

describe('a share for an address', () => {
  it.each(['owned', 'carried unverified'] as const)('%s is attached to the existing account', async (state) => {
    const [email = ''] = await prepare(state, 1)
    const emailKey = await identity.emailKey(email)
    const database = new DatabaseSync(path)
    const row = database.prepare('select account_id from identity_accounts where email_key = ?').get(emailKey)
    database.close()
    await share(email)
    const [subject] = await identity.subjects({ emailKey, limit: 1 })
    expect(JSON.stringify(subject?.accountId)).toBe((row as { account_id: string }).account_id)
  })

  it('runs the same statements in the same order in every state of the account', async () => {
    await share('first@shop.example')
    const texts = new Map<State, readonly string[]>()
    for (const state of states) {
      const [email = ''] = await prepare(state, 1)
      ran = []
      await share(email)
      texts.set(state, ran)
      ran = null
    }
    const expected = texts.get('unknown') ?? []
    expect(expected.filter((text) => text === 'commit')).toHaveLength(3)
    expect(expected.some((text) => text.includes('identity_accounts'))).toBe(true)
    for (const state of states) expect(texts.get(state), state).toEqual(expected)
  })

  it('runs the same statements for a person with several subjects', async () => {
    const statementsOf = async (email: string) => {
      ran = []
      await share(email)
      const statements = ran
      ran = null
      return statements
    }
    const [given, kept, unknown] = ['given-up@shop.example', 'kept@shop.example', 'nobody@shop.example'] as const
    const accounts = await identity.accounts()
    const { accountId } = await accounts.proveByCode(given, (await accounts.requestCode(given)).code)
    await accounts.proveByCode(kept, (await accounts.requestCode(kept)).code, { accountId })
    expect(await identity.subjects({ accountId, limit: 9 })).toHaveLength(2)
    expect(await statementsOf(kept)).toEqual(await statementsOf(unknown))
  })
})
