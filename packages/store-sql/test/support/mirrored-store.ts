/** A store on a database with the hooks of the store in memory: the core's tests of identity run on it. @module */
import type { Store } from '@payment-integration/core/ports'
import type { Selectable } from 'kysely'
import { sql } from 'kysely'
import { copyOf, emptyState, type MemoryState } from '../../../core/test/support/memory-state.js'
import type { MemoryStore } from '../../../core/test/support/memory-store.js'
import { createStore } from '../../src/create-store.js'
import type { Engine } from '../../src/engine.js'
import { type StoredSubject, subjectFrom, verificationAssignments } from '../../src/identity/subject-row.js'
import { compile } from '../../src/internal/statement.js'
import { integer, nullableInteger, pack, unpack } from '../../src/internal/values.js'
import type { IdentityAccountRow, ProviderEventRow } from '../../src/schema/identity-tables.js'
import type { Integer } from '../../src/schema/integer.js'

const all = { limit: 100_000 }
let calls = 0

/** Whether a call of a mirrored store has not ended. */
export const isBusy = (): boolean => calls > 0

async function counted<T>(call: () => Promise<T>): Promise<T> {
  calls += 1
  try {
    return await call()
  } finally {
    calls -= 1
  }
}

/** Builds it. @param opening - An empty, migrated database. */
export function mirroredStore(opening: Promise<Engine>): MemoryStore {
  const stored = opening.then((engine) => ({ engine, store: createStore(engine) }))
  let state = emptyState()
  /** Direct writes, and reads of committed rows, one after the other. */
  let queue: Promise<unknown> = stored
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = queue.then(work)
    queue = result.catch(() => undefined)
    return result
  }
  const refresh = () =>
    inTurn(async () => {
      const { engine, store } = await stored
      state = await stateOf(engine, store)
    })
  /** Mirrored calls, which wait for direct writes. */
  const part = <Name extends 'identity' | 'identityAccounts' | 'dataKeys' | 'audit'>(name: Name): Store[Name] =>
    new Proxy({} as Store[Name], {
      get:
        (_, method: string) =>
        (...given: readonly unknown[]) =>
          counted(async () => {
            await queue
            const target = (await stored).store[name] as unknown as Record<string, (...given: unknown[]) => unknown>
            const value = await target[method]?.(...given)
            // Reads, and rounds that forget nothing, change nothing.
            if (method === 'forgetEvents' && value !== 0) await refresh()
            return value
          }),
    })
  const mirrored: Partial<MemoryStore> = {
    failures: [],
    beforeTransaction: null,
    committed: () => state,
    seed(change) {
      const before = state
      state = copyOf(before)
      change(state)
      for (const [id, row] of state.subjects)
        if (row !== before.subjects.get(id)) void inTurn(async () => write((await stored).engine, id, row))
    },
    transaction: (work) =>
      counted(async () => {
        await queue
        try {
          return await (await stored).store.transaction(async (tx) => {
            const value = await work(tx)
            const failure = mirrored.failures?.shift()
            if (failure) throw failure
            return value
          })
        } finally {
          await refresh()
        }
      }),
    identity: part('identity'),
    identityAccounts: part('identityAccounts'),
    dataKeys: part('dataKeys'),
    audit: part('audit'),
  }
  return mirrored as MemoryStore
}

/** Writes the verification of a subject, as no operation of the store does. */
async function write({ transaction, dialect }: Engine, id: string, row: Parameters<typeof verificationAssignments>[0]) {
  const query = compile(
    dialect,
    (parameter) => `update ${dialect.name('identity_subjects')}
      set ${verificationAssignments(row, parameter).join(', ')} where id = ${parameter(pack(id))}`,
  )
  await transaction((db) => db.executeQuery(query))
}

/** Everything of identity that is committed, oldest first. */
async function stateOf({ read, dialect: { name } }: Engine, store: Store): Promise<MemoryState> {
  const rows = async <Row>(table: string, order: string) =>
    (await sql.raw<Row>(`select * from ${name(table)} order by ${order}`).execute(read)).rows
  const { identity, identityAccounts } = store
  const [subjects, users, events, redemptions, shares, verdicts, accountEvents, audit] = await Promise.all([
    rows<StoredSubject & { next_poll_at: Integer | null }>('identity_subjects', 'seq'),
    rows<Selectable<IdentityAccountRow>>('identity_accounts', 'id'),
    rows<Selectable<ProviderEventRow>>('provider_events', 'at'),
    ...([identity.redemptions(all), identity.shares(all), identity.verdicts(all)] as const),
    ...([identityAccounts.events(all), store.audit.list(all)] as const),
  ])
  return {
    ...emptyState(),
    subjects: new Map(
      subjects.map((row) => [
        unpack<string>(row.id),
        { ...subjectFrom(row), nextPollAt: nullableInteger(row.next_poll_at) },
      ]),
    ),
    redemptions: new Map(redemptions.reverse().map((each) => [each.externalUserId, each as never])),
    shares: shares.reverse(),
    verdicts: verdicts.reverse(),
    providerEvents: new Map(events.map(({ event_key, at }) => [unpack<string>(event_key), integer(at)])),
    users: new Map(
      users.map(({ account_id, email_key, email_verified }) => [
        unpack<string>(account_id),
        { emailKey: email_key, verified: integer(email_verified) === 1 },
      ]),
    ),
    accountEvents: accountEvents.reverse(),
    audit,
  }
}
