/** Configuration, clock and reports of a crash test's process. @module */
import { systemClock } from '@payment-integration/core'
import type { Clock } from '@payment-integration/core/ports'
import type { Death } from './probes.js'
import type { ScriptSize } from './script.js'

/** The database of the payments. */
export type CrashDatabase =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly connectionString: string; readonly schema: string }

/** The part of the script that may run so far. The parent raises it by a line of JSON on standard input. */
export interface Horizon {
  readonly blocks: number
  readonly updates: number
}

/** The configuration, as JSON on its command line. */
export interface CrashConfig {
  readonly seed: number
  readonly size: ScriptSize
  /** `server` indexes and applies updates, `dispatcher` delivers. */
  readonly roles: readonly ('server' | 'dispatcher')[]
  readonly database: CrashDatabase
  readonly time: FastTime
  /** The lead of its clock over the clocks of earlier processes, in milliseconds. */
  readonly aheadMs: number
  readonly horizon: Horizon
  /** Blocks that its chain begins with; an earlier process may have seen them. @default none */
  readonly minedBlocks?: number | undefined
  /** The first unconfirmed update. */
  readonly firstUpdate: number
  readonly death: Death | null
  /** Whether a POST has its whole time limit in real time, for slow machines. @default mustFinish */
  readonly isPatient?: boolean | undefined
  /** Whether the process delivers everything, replays exhausted deliveries, and reports when it is done. */
  readonly mustFinish: boolean
}

/** A report of the process. */
export type CrashLine =
  | { readonly type: 'ready' }
  | { readonly type: 'dying' | 'frozen'; readonly point: Death['point'] }
  /** An update was accepted: it must never be lost. */
  | { readonly type: 'accepted'; readonly index: number; readonly outcome: string }
  | { readonly type: 'indexed'; readonly txHash: string }
  | { readonly type: 'delivered'; readonly txHash: string; readonly version: number }
  /** A dispatcher that had lost its lease dropped a late answer. */
  | { readonly type: 'lease lost' }
  | { readonly type: 'endpoint'; readonly failing: boolean }
  | { readonly type: 'finished'; readonly replayed: number; readonly brokenAt: number | null }

/** The moment at which fast clock and real clock are equal. */
export interface FastTime {
  /** Unix time in milliseconds. */
  readonly since: number
  /** Fast milliseconds per millisecond. */
  readonly speed: number
}

/** Builds the clock. Clocks of several processes agree. */
export function createFastClock({ since, speed }: FastTime): Clock {
  return {
    now: () => Math.floor(since + (Date.now() - since) * speed),
    sleep: (ms, signal) => systemClock.sleep(ms / speed, signal),
  }
}
