/** A full local copy of one integration's payments. Source: docs/interface.md 4.1, 6. @module */
import type { VersionDecision } from '@payment-integration/version-store'
import type { Delivery, RequestLike, Snapshot } from '@payment-integration/webhook'
import type { Dialect, TableOptions } from './database.js'
import { OtherIntegrationError } from './errors.js'
import type { MirrorCompletion, MirrorReconciliation } from './events.js'
import { schemaSql, tableNames } from './internal/columns.js'
import { type MirrorOptions, openParts } from './options.js'
import { complete, type MirrorReconcileOptions, reconcile } from './reconcile.js'
import { createWake, type MirrorRunOptions, run } from './run.js'
import { type MirrorStatus, readStatus } from './status.js'

/** A stored or dropped delivery. Answer 2xx for each. */
export interface MirrorReceived {
  readonly snapshot: Snapshot
  /** `apply`: stored now. `duplicate`: stored before. `stale`: a greater version was stored before. */
  readonly decision: VersionDecision
}

/** Keeps the copy. The functions need no `this`. */
export interface Mirror {
  /** Creates the tables where they are missing. Safe in several processes at once. */
  migrate(): Promise<void>
  /**
   * Verifies a delivery over its raw bytes and stores its snapshot, if the version is greater. Fits `receive` of the
   * adapters of `@payment-integration/webhook`. It calls nothing but the database: `run`, `complete` or the next
   * `reconcile` reads the other columns.
   * @throws Refusals of `verify`; errors of the database; {@link OtherIntegrationError} `ERR_MIRROR_OTHER_INTEGRATION`.
   */
  receive(delivery: Delivery | RequestLike): Promise<MirrorReceived>
  /** Reads from the read API each row of which a delivery brought the newest version. */
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
 * Makes a mirror. Nothing is read, stored or sent until a method is called.
 * @throws {TypeError} When an option is missing or malformed.
 * @throws {RangeError} When a number is out of range.
 * @example
 * const mirror = createMirror({ database: new pg.Pool(), client, integrationAddress, secrets })
 * await mirror.migrate()
 * await mirror.run({ signal })
 */
export function createMirror(options: MirrorOptions): Mirror {
  const parts = openParts(options)
  const { driver, names, payments, state, integrationAddress, verify, now, onEvent } = parts
  const wake = createWake()
  let touchedAt = Number.NEGATIVE_INFINITY

  /** At most once a second: deliveries must not wait for each other at this row. */
  async function touch(): Promise<void> {
    const at = now()
    if (at - touchedAt < 1_000) return
    touchedAt = at
    await state.set('delivered_at', new Date(at).toISOString())
  }

  return {
    async migrate() {
      await driver.create(schemaSql(driver.dialect, names))
      await payments.check()
      await state.read()
    },
    async receive(delivery) {
      const { snapshot } = await verify(delivery)
      if (snapshot.integrationAddress !== integrationAddress)
        throw new OtherIntegrationError(snapshot.integrationAddress, integrationAddress)
      const decision = await payments.writeSnapshot(snapshot, new Date(now()).toISOString())
      await touch()
      if (decision === 'apply') wake.wake()
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
 * The SQL that `migrate` runs, for your own migrations.
 * @throws {TypeError} When a name has other characters than lower-case letters, digits and underscores.
 */
export function mirrorTables(dialect: Dialect, options: TableOptions = {}): string {
  return schemaSql(dialect, tableNames(options))
    .map((statement) => `${statement};\n`)
    .join('\n')
}
