/** A full local copy of one integration's payments. Source: docs/interface.md 4.1, 6. @module */
import { isClientError } from '@payment-integration/client'
import type { VersionDecision } from '@payment-integration/version-store'
import type { Delivery, RequestLike, Snapshot } from '@payment-integration/webhook'
import type { Dialect, TableOptions } from './database.js'
import { OtherIntegrationError } from './errors.js'
import type { MirrorCompletion, MirrorOptions, MirrorReconciliation, Parts } from './options.js'
import { checkMilliseconds, mirrorDefaults, openParts } from './options.js'
import { complete, type MirrorReconcileOptions, reconcile } from './reconcile.js'
import { buildSchema, quoteNames } from './tables.js'

/** The state of the copy. Times are ISO 8601, UTC. */
export interface MirrorStatus {
  readonly integrationAddress: string
  /** Whether a run ever reached the end of the list. Before that, older payments may be missing, whatever the lag. */
  readonly copied: boolean
  /** Payments of the copy. */
  readonly rows: number
  /** Rows whose newest version was not read from the read API yet. */
  readonly incomplete: number
  /** Block time of the newest payment here; null when there is none. */
  readonly newest: string | null
  /** Block time of the newest payment at the service; null when it has none or did not answer. */
  readonly newestAtService: string | null
  /** From the newest payment here to the newest at the service, in milliseconds; null when one of them is missing. */
  readonly lagMs: number | null
  /** Why the service did not answer, such as `ERR_NETWORK`; null when it did. */
  readonly serviceError: string | null
  /** End of the last run; null before the first. */
  readonly reconciledAt: string | null
  /** End of the last run that read the whole list; null before the first. */
  readonly reconciledFullyAt: string | null
  /** When the last signed delivery arrived; up to a second too early. */
  readonly deliveredAt: string | null
}

/** Reads the tables and the newest payment of the service. @throws Errors of the database, and `ERR_ABORTED`. */
async function readStatus(parts: Parts, signal: AbortSignal | undefined): Promise<MirrorStatus> {
  const { payments, state, integrationAddress } = parts
  // Reads the service first, so that a payment that arrives in between makes no lag.
  const service = await readNewestAtService(parts, signal)
  const { rows, incomplete, newest } = await payments.counts()
  const { reconciledAt, reconciledFullyAt, deliveredAt } = await state.read()
  return {
    integrationAddress,
    copied: reconciledFullyAt !== null,
    rows,
    incomplete,
    newest,
    newestAtService: service.newest,
    lagMs: computeLag(newest, service.newest),
    serviceError: service.error,
    reconciledAt,
    reconciledFullyAt,
    deliveredAt,
  }
}

async function readNewestAtService({ client }: Parts, signal: AbortSignal | undefined) {
  try {
    const { payments } = await client.payments.list({ limit: 1, signal })
    return { newest: payments[0]?.blockTimestamp ?? null, error: null }
  } catch (error) {
    if (!isClientError(error) || error.code === 'ERR_ABORTED') throw error
    return { newest: null, error: error.code }
  }
}

function computeLag(atMirror: string | null, atService: string | null): number | null {
  return atMirror === null || atService === null ? null : Math.max(0, Date.parse(atService) - Date.parse(atMirror))
}

interface MirrorRunOptions extends Pick<MirrorReconcileOptions, 'pageSize'> {
  /** Time from the end of one run to the next, in milliseconds. @default 60000 */
  readonly everyMs?: number | undefined
  /** Its abort ends the loop, which then resolves. */
  readonly signal: AbortSignal
}

/** Lets deliveries end the wait of the loop. */
function createWake() {
  let pending = false
  let resolve = () => {}
  return {
    wake() {
      pending = true
      resolve()
    },
    /** Resolves at the next `wake`, or at once when one came since `clear`. */
    woken: () => (pending ? Promise.resolve() : new Promise<void>((done) => (resolve = done))),
    clear() {
      pending = false
    },
  }
}
type Wake = ReturnType<typeof createWake>

/** Loops until the signal aborts. A failed step is an event; the next interval repeats it. */
async function run(parts: Parts, { woken, clear }: Wake, options: MirrorRunOptions): Promise<void> {
  const { everyMs = mirrorDefaults.everyMs, pageSize, signal } = Object(options) as MirrorRunOptions
  checkMilliseconds('everyMs', everyMs)
  if (typeof signal?.aborted !== 'boolean')
    throw new TypeError('signal is no AbortSignal, so run() would never end; pass one.')

  async function attempt(step: 'reconcile' | 'complete', isFirst: boolean): Promise<void> {
    try {
      if (step === 'reconcile') await reconcile(parts, { pageSize, signal })
      else parts.onEvent({ type: 'completed', ...(await complete(parts, signal)) })
    } catch (error) {
      if (signal.aborted) return
      // A wrong secret or a missing table does not heal by itself: whoever starts the loop must see it.
      if (isFirst && (error as { retryable?: unknown } | null)?.retryable !== true) throw error
      parts.onEvent({ type: 'failed', step, error })
    }
  }

  for (let isFirst = true; !signal.aborted; isFirst = false) {
    await attempt('reconcile', isFirst)
    if (signal.aborted) return
    const due = parts.clock.sleep(everyMs, signal).then(() => 'due' as const)
    while (!signal.aborted && (await Promise.race([due, woken()])) !== 'due') {
      clear()
      await attempt('complete', false)
    }
  }
}

/** Keeps the copy. The functions need no `this`. */
export interface Mirror {
  /** Creates the tables where they are missing. Safe in several processes at once. */
  migrate(): Promise<void>
  /**
   * Verifies a delivery over its raw bytes and stores its snapshot, if the version is greater: `apply`. `duplicate`:
   * this version was stored before. `stale`: a greater one was. Answer 2xx to each. Fits `receive` of the adapters of
   * `@payment-integration/webhook`. It calls nothing but the database: `run`, `complete` or the next `reconcile` reads
   * the other columns.
   * @throws Rejections of `verify`; errors of the database; {@link OtherIntegrationError}
   * `ERR_MIRROR_OTHER_INTEGRATION`.
   */
  receive(
    delivery: Delivery | RequestLike,
  ): Promise<{ readonly snapshot: Snapshot; readonly decision: VersionDecision }>
  /** Reads from the read API each row whose newest version came by a delivery. */
  complete(options?: { readonly signal?: AbortSignal | undefined }): Promise<MirrorCompletion>
  /**
   * Compares the copy with the read API, newest first, and repairs it. The checkpoint is in the database: a run after a
   * crash goes on at the last page. It may run beside deliveries and beside itself.
   */
  reconcile(options?: MirrorReconcileOptions): Promise<MirrorReconciliation>
  /**
   * Reconciles at once and at intervals, and completes rows as deliveries arrive, until the signal aborts. Failures are
   * events. Rejects only when the first run fails with an error that no retry can heal.
   */
  run(options: MirrorRunOptions): Promise<void>
  /** The lag, the counts and the last times. A service that does not answer is part of the status, not an error. */
  status(options?: { readonly signal?: AbortSignal | undefined }): Promise<MirrorStatus>
}

/**
 * Creates a mirror, which keeps a full copy of an integration's payments in your database. Nothing is read, stored or
 * sent until a method is called.
 * @throws {TypeError} When an option is missing or malformed.
 * @throws {RangeError} When a number is out of range. Its methods reject with a {@link MirrorError}
 * (`ERR_MIRROR_TABLES_MISSING`, `ERR_MIRROR_TABLE_FOREIGN`, `ERR_MIRROR_OTHER_INTEGRATION`), or an error of client,
 * `verify` or driver.
 * @example
 * import { createClient } from '@payment-integration/client'
 * import { createMirror } from '@payment-integration/mirror'
 * import pg from 'pg'
 * const { INTEGRATION_ADDRESS: integrationAddress = '', API_SECRET: apiSecret = '' } = process.env
 * const client = createClient({ baseUrl: 'https://payments.example.com', integrationAddress, apiSecret })
 * const secrets = process.env['WEBHOOK_SIGNING_SECRET'] ?? ''
 * const mirror = createMirror({ database: new pg.Pool(), client, integrationAddress, secrets })
 * await mirror.migrate()
 * await mirror.run({ signal: new AbortController().signal })
 */
export function createMirror(options: MirrorOptions): Mirror {
  const parts = openParts(options)
  const { driver, names, payments, state, integrationAddress, verify, clock, onEvent } = parts
  const wake = createWake()
  let deliveryRecordedAt = Number.NEGATIVE_INFINITY

  /** Stores the delivery's time, at most once a second: deliveries must not wait for each other at this row. */
  async function recordDelivery(): Promise<void> {
    const at = clock.now()
    if (Math.abs(at - deliveryRecordedAt) < 1_000) return
    deliveryRecordedAt = at
    await state.set('delivered_at', new Date(at).toISOString())
  }

  return {
    async migrate() {
      await driver.create(buildSchema(driver.dialect, names))
      await payments.check()
      await state.read()
    },
    async receive(delivery) {
      const { snapshot } = await verify(delivery)
      if (snapshot.integrationAddress !== integrationAddress)
        throw new OtherIntegrationError(snapshot.integrationAddress, integrationAddress)
      const decision = await payments.writeSnapshot(snapshot, new Date(clock.now()).toISOString())
      if (decision === 'apply') wake.wake()
      await recordDelivery()
      const { chainId, txHash, version, state: paymentState } = snapshot
      onEvent({ type: 'delivery', decision, chainId, txHash, version, state: paymentState })
      return { snapshot, decision }
    },
    complete: async ({ signal } = {}) => complete(parts, signal),
    reconcile: async (runOptions = {}) => reconcile(parts, runOptions),
    run: async (runOptions) => run(parts, wake, runOptions),
    status: async ({ signal } = {}) => readStatus(parts, signal),
  }
}

/**
 * Writes the SQL that `migrate` runs, for your own migrations.
 * @param options - `schema` and `prefix` of the tables. @default `mirror_` in the first schema of the search path
 * @throws {TypeError} When a name has other characters than lower-case letters, digits and underscores.
 * @example
 * import { mirrorTables } from '@payment-integration/mirror'
 * console.log(mirrorTables('postgres', { schema: 'payments' }))
 */
export function mirrorTables(dialect: Dialect, options: TableOptions = {}): string {
  return buildSchema(dialect, quoteNames(options))
    .map((statement) => `${statement};\n`)
    .join('\n')
}
