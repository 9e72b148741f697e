/** The adapter's fixture, its faults, and the suite's own assertions, which need no test runner. @module */
import { createSqliteVersionStore, type SqliteDatabase } from '../sqlite-version-store.js'
import type { ListingVersionStore, VersionedPayment, VersionStore } from '../version-store.js'

/** A store did not do what its port promises. */
export class ConformanceError extends Error {
  override readonly name = 'ConformanceError'
}

/** @throws `ConformanceError` When the values differ; arrays and plain objects are compared by their members. */
export function equal(actual: unknown, expected: unknown, about = ''): void {
  const [is, should] = [toText(actual), toText(expected)]
  if (is !== should) fail(`expected ${should}, got ${is}`, about)
}

export function holds(condition: boolean, about: string): void {
  if (!condition) fail('this does not hold', about)
}

export function rises(versions: readonly number[], about = ''): void {
  const risen = [...new Set(versions)].sort((a, b) => a - b)
  equal(versions, risen, about)
}

/** Waits for a failure and gives its reason. @throws `ConformanceError` When the promise resolves. */
export function expectFailure(promise: Promise<unknown>): Promise<unknown> {
  return Promise.resolve(promise).then(
    (value) => fail(`expected a failure, got ${toText(value)}`, ''),
    (reason: unknown) => reason,
  )
}

export async function expectFailureField(promise: Promise<unknown>, field: 'name' | 'code'): Promise<unknown> {
  return (Object(await expectFailure(promise)) as { readonly name?: unknown; readonly code?: unknown })[field]
}

function fail(flaw: string, about: string): never {
  throw new ConformanceError(about === '' ? flaw : `${about}: ${flaw}`)
}

/** JSON, in which `undefined` and the numbers that JSON lacks have a text too. */
function toText(value: unknown): string {
  const spell = (_: string, part: unknown) =>
    part === undefined || typeof part === 'bigint' || (typeof part === 'number' && !Number.isFinite(part))
      ? `(${typeof part} ${String(part)})`
      : part
  return JSON.stringify(value, spell)
}

/**
 * The fault of an operation. `rejected`: the database answers with an error and has done nothing.
 * `lost before`: the connection breaks before the operation reaches the database. `lost after`: the database acts, and
 * the connection breaks before its answer, as in a COMMIT whose answer never arrives.
 */
export type Fault = (typeof faultKinds)[number]

export const faultKinds = ['rejected', 'lost before', 'lost after'] as const

class InjectedFaultError extends Error {
  override readonly name = 'InjectedFaultError'
}

/** The faults as a fixture sees them: every operation of its driver asks here whether it must fail. */
export interface Faults {
  /** The fault of the operation that begins now; `undefined` for none. For fixtures that break a real connection. */
  next(): Fault | undefined
  /**
   * Runs an operation, synchronous or not, with the fault that {@link Faults.next} returns.
   * @param sever - Breaks the operation's connection, where there is one; called for the two `lost` faults.
   * @throws `InjectedFaultError` In place of the answer.
   */
  operation<Result>(run: () => Result, sever?: () => void): Result
}

export interface FaultPlan extends Faults {
  /** From now on counts operations, and lets the one at `index`, from 0, fail. */
  arm(index: number, fault: Fault): void
  /** Ends the fault. Returns whether it happened. */
  disarm(): boolean
}

export function createFaultPlan(): FaultPlan {
  let armed: { readonly index: number; readonly fault: Fault } | undefined
  let count = 0
  const next = () => (armed !== undefined && count++ === armed.index ? armed.fault : undefined)
  return {
    next,
    operation(run, sever) {
      const fault = next()
      if (fault === undefined) return run()
      const throwFault = () => {
        if (fault !== 'rejected') sever?.()
        throw new InjectedFaultError(`The operation was made to fail: ${fault}.`)
      }
      if (fault !== 'lost after') return throwFault()
      const result = run()
      if (typeof (Object(result) as Partial<Promise<unknown>>).then !== 'function') return throwFault()
      return (result as Promise<unknown>).then(throwFault, throwFault) as typeof result
    },
    arm(index, fault) {
      armed = { index, fault }
      count = 0
    },
    disarm() {
      const happened = armed !== undefined && count > armed.index
      armed = undefined
      return happened
    },
  }
}

/** A store under test, and direct access to its database. */
export interface ConformanceFixture<Tx> {
  /** Empty. */
  readonly store: VersionStore<Tx> | ListingVersionStore<Tx>
  /** Writes a note through the transaction of an effect. */
  write(tx: Tx, note: string): void | Promise<void>
  /** The committed notes, in the order of their writing; read outside of any effect, and without faults. */
  notes(): Promise<readonly string[]>
  /**
   * Whether a listing may repeat a payment, as Redis' SCAN. Otherwise a repeated payment is an error.
   * @default false
   */
  readonly listsAgain?: boolean | undefined
  /** Closes the database. */
  close?(): Promise<void> | void
}

/**
 * Returns an empty store on a fresh database; called once per test. Sends every operation of the store's driver, and of
 * `write`, through the faults.
 */
export type OpenFixture<Tx> = (faults: Faults) => Promise<ConformanceFixture<Tx>>

export type Cases = Readonly<Record<string, <Tx>(fixture: ConformanceFixture<Tx>, faults: FaultPlan) => Promise<void>>>

/** A payment at a version; `payment` is the number in its transaction hash. */
export function at(version: number, payment = 1): VersionedPayment {
  return {
    integrationAddress: `0x${'a1'.repeat(20)}`,
    chainId: '8453',
    txHash: `0x${payment.toString(16).padStart(64, '0')}`,
    version,
  }
}

/** The note that an effect of the suite leaves. */
export function buildNote({ txHash, version }: VersionedPayment): string {
  return `${BigInt(txHash)}/${version}`
}

/** Advances with an effect that writes its note. With `failure`, the note ends in `!`, and the effect then throws. */
export function deliver<Tx>({ store, write }: ConformanceFixture<Tx>, payment: VersionedPayment, failure?: Error) {
  return store.advance(payment, async (tx) => {
    await write(tx, failure ? `${buildNote(payment)}!` : buildNote(payment))
    if (failure) throw failure
  })
}

export function unwanted(): never {
  throw new Error('an effect ran that must not run')
}

export function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

/** Lists the distinct orders of a list that may hold equal members. */
export function listOrders(list: readonly number[]): number[][] {
  if (list.length === 0) return [[]]
  return [...new Set(list)].flatMap((first) => {
    const rest = [...list]
    rest.splice(rest.indexOf(first), 1)
    return listOrders(rest).map((order) => [first, ...order])
  })
}

/** Runs the work for each member, a few at a time; `index` numbers them. */
export async function runForEach<Member>(
  members: readonly Member[],
  atATime: number,
  work: (member: Member, index: number) => Promise<void>,
): Promise<void> {
  const entries = members.entries()
  const one = async () => {
    for (const [index, member] of entries) await work(member, index)
  }
  await Promise.all(Array.from({ length: atATime }, one))
}

/** The part of a connection that the fixture uses beyond the store's. */
export interface SqliteTestDatabase extends SqliteDatabase {
  close(): void
}

/**
 * Creates a fixture on a fresh connection, which it closes: see the example of `versionStoreConformance`.
 * @param remove - Removes the database file, if there is one. @default nothing
 */
export async function createSqliteFixture(
  database: SqliteTestDatabase,
  faults: Faults,
  remove: () => void = () => {},
): Promise<ConformanceFixture<SqliteDatabase>> {
  database.exec('CREATE TABLE notes (id INTEGER PRIMARY KEY, note TEXT NOT NULL)')
  return {
    store: createSqliteVersionStore({ database: withFaults(database, faults), busyTimeoutMs: 60_000 }),
    write: (tx, note) => void tx.prepare('INSERT INTO notes (note) VALUES (?)').run(note),
    async notes() {
      const rows = database.prepare('SELECT note FROM notes ORDER BY id').all() as { note: string }[]
      return rows.map(({ note }) => note)
    },
    close() {
      database.close()
      remove()
    },
  }
}

/** The connection, with its operations sent through the faults. Without a network, a lost operation simply fails. */
function withFaults(database: SqliteDatabase, { operation }: Faults): SqliteDatabase {
  const through = (statement: ReturnType<SqliteDatabase['prepare']>) => ({
    get: (...values: (string | number)[]) => operation(() => statement.get(...values)),
    run: (...values: (string | number)[]) => operation(() => statement.run(...values)),
    all: (...values: (string | number)[]) => operation(() => statement.all(...values)),
  })
  return {
    exec: (sql) => operation(() => database.exec(sql)),
    prepare: (sql) => through(operation(() => database.prepare(sql))),
    get isTransaction() {
      return database.isTransaction ?? database.inTransaction
    },
  } as SqliteDatabase
}
