/** Options and events of `createMirror`. @module */
import type { Client, Findings, Reconciliation, UnknownPayment } from '@payment-integration/client'
import type { Delivery, RequestLike, Snapshot, VerifierOptions } from '@payment-integration/webhook'
import { createVerifier } from '@payment-integration/webhook'
import { chooseDriver, type MirrorDatabase, type TableOptions } from './database.js'
import { defaultPrefix, openPaymentsTable, openStateTable, quoteNames } from './tables.js'

/** The result of looking up incomplete rows at the read API. */
export interface MirrorCompletion {
  /** Rows that now have every column of their newest version. */
  readonly completed: number
  /** Rows that stay incomplete: no such payment, an older version, a hash on several chains, or a malformed answer. */
  readonly incomplete: number
}

/** The findings and repairs of a run. The counts are of this run alone, not of an interrupted one that it resumed. */
export interface MirrorReconciliation {
  /** Whether the run was to read the whole list. */
  readonly full: boolean
  /** Why the run stopped. After `max_pages`, older pages remain. */
  readonly stopped: Reconciliation['stopped']
  readonly pages: number
  readonly compared: number
  /** Payments that were missing. */
  readonly added: number
  /** Payments of which the copy had an older version. */
  readonly updated: number
  /** Payments whose newest version a delivery had stored, and which now have every column. */
  readonly completed: number
  /** Payments of the same version with other facts, as after a reorg. */
  readonly refreshed: number
  /** Rows that still lack a read of their newest version. */
  readonly incomplete: number
  /** Rows that the service does not have; the mirror deletes none. Null unless one run read the whole list. */
  readonly unknown: Findings<UnknownPayment> | null
}

/** One step of the mirror. It holds no secret, body or signature. `state` is text from outside. */
export type MirrorEvent =
  /** A signed delivery arrived. `apply`: stored. `duplicate`, `stale`: it had nothing newer. */
  | {
      readonly type: 'delivery'
      readonly decision: 'apply' | 'duplicate' | 'stale'
      readonly chainId: string
      readonly txHash: string
      readonly version: number
      readonly state: string | null
    }
  /** A run compared another page. */
  | { readonly type: 'progress'; readonly pages: number; readonly compared: number }
  /** A run finished. */
  | ({ readonly type: 'reconciled' } & MirrorReconciliation)
  /** Look-ups after deliveries finished. */
  | ({ readonly type: 'completed' } & MirrorCompletion)
  /** A step of `run` failed; `run` repeats it. */
  | { readonly type: 'failed'; readonly step: 'reconcile' | 'complete'; readonly error: unknown }

/** The database, the client, the secrets and the clock of a mirror. */
export interface MirrorOptions extends TableOptions {
  /** Your pool, client or connection. The mirror never closes it. */
  readonly database: MirrorDatabase
  /** A client of `createClient` for the same integration. */
  readonly client: Pick<Client, 'payments' | 'integrationAddress'>
  /** The integration whose payments are copied: 0x and 40 hex digits, in any case. */
  readonly integrationAddress: string
  /** The webhook signing secrets. @default none: `receive` throws, and only `reconcile` updates the copy */
  readonly secrets?: VerifierOptions['secrets'] | undefined
  /**
   * Your own verification instead of `secrets`; `verify` of `createVerifier` fits.
   * @default a verifier with `secrets` and `clock`
   */
  readonly verify?: ((delivery: Delivery | RequestLike) => Promise<{ readonly snapshot: Snapshot }>) | undefined
  /** Receives each step. Must not throw. @default failures of `run` go to console.error */
  readonly onEvent?: ((event: MirrorEvent) => void) | undefined
  /**
   * Longest time between two runs to the end of the list, in milliseconds. With 0, each run reads to the end.
   * @default 86400000 (a day)
   */
  readonly fullEveryMs?: number | undefined
  /** SQLite: how long a statement waits for a lock of another connection, in milliseconds. @default 3000 */
  readonly busyTimeoutMs?: number | undefined
  /** Milliseconds since the epoch. `sleep` resolves early when the signal aborts. @default Date.now and setTimeout */
  readonly clock?: { now(): number; sleep(ms: number, signal?: AbortSignal): Promise<void> } | undefined
}

/** Defaults of {@link MirrorOptions}, and of `run`. */
export const mirrorDefaults = {
  prefix: defaultPrefix,
  fullEveryMs: 86_400_000,
  everyMs: 60_000,
  busyTimeoutMs: 3_000,
} as const

/** The parts of a mirror, opened. */
export type Parts = ReturnType<typeof openParts>

/** Checks the options and opens the parts. Nothing is read or sent yet. @throws {TypeError | RangeError} */
export function openParts(options: MirrorOptions) {
  const {
    client,
    secrets,
    onEvent = reportFailure,
    fullEveryMs = mirrorDefaults.fullEveryMs,
    busyTimeoutMs = mirrorDefaults.busyTimeoutMs,
    clock = { now: () => Date.now(), sleep: abortableSleep },
  } = Object(options) as MirrorOptions
  if (typeof client?.integrationAddress !== 'string' || typeof client.payments?.get !== 'function')
    throw new TypeError('client has no integrationAddress and payments; pass a client of createClient.')
  const { integrationAddress: given } = options
  if (typeof given !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(given))
    throw new TypeError('integrationAddress is not an address; pass 0x and 40 hex digits.')
  if (secrets !== undefined && options.verify !== undefined)
    throw new TypeError('secrets and verify are both given; pass one of them.')
  const { verify = secrets === undefined ? rejectWithoutVerifier : createVerifier({ secrets, clock }).verify } = options
  for (const [name, value] of Object.entries({ verify, onEvent, 'clock.now': clock?.now, 'clock.sleep': clock?.sleep }))
    if (typeof value !== 'function') throw new TypeError(`${name} is ${typeof value}; pass a function.`)
  const integrationAddress = given.toLowerCase()
  const names = quoteNames(options)
  const driver = chooseDriver(options.database, {
    busyTimeoutMs: checkMilliseconds('busyTimeoutMs', busyTimeoutMs),
    clock: { now: () => performance.now(), sleep: (ms) => clock.sleep(ms) },
  })
  return {
    driver,
    names,
    payments: openPaymentsTable(driver, names, integrationAddress),
    state: openStateTable(driver, names, integrationAddress),
    client,
    integrationAddress,
    verify,
    fullEveryMs: checkMilliseconds('fullEveryMs', fullEveryMs),
    onEvent,
    clock,
  }
}

/** Checks whole milliseconds, 0 or more. @throws {RangeError} */
export function checkMilliseconds(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 0 && value <= maxTimerMs) return value
  throw new RangeError(`${name} is ${value}; pass whole milliseconds, 0 to ${maxTimerMs}.`)
}

// A timer's delay has at most 31 bits; a longer delay fires at once.
const maxTimerMs = 2_147_483_647

async function rejectWithoutVerifier(): Promise<never> {
  throw new TypeError(
    'createMirror has neither secrets nor verify, so receive() can accept no delivery; pass one of them.',
  )
}

function reportFailure(event: MirrorEvent): void {
  // biome-ignore lint/suspicious/noConsole: an unseen failure is worse than a line on stderr; onEvent replaces it.
  if (event.type === 'failed') console.error(event.error)
}

function abortableSleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const stop = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
      resolve()
    }
    const timer = setTimeout(stop, ms)
    signal?.addEventListener('abort', stop)
  })
}
