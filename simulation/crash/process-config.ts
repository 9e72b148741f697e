/** What a process of the crash tests is told. @module */
import type { FastTime } from '../chaos/fast-clock.js'
import type { Death } from './death.js'
import type { ScriptSize } from './script.js'

/** Where the payments are kept. */
export type CrashDatabase =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly connectionString: string; readonly schema: string }

/** How much of the script may happen so far. The parent may raise it, as a line of JSON on standard input. */
export interface Horizon {
  readonly blocks: number
  readonly updates: number
}

/** Everything that it needs, as JSON on its command line. */
export interface CrashConfig {
  readonly seed: number
  readonly size: ScriptSize
  /** `server` indexes and applies updates, `dispatcher` delivers. */
  readonly roles: readonly ('server' | 'dispatcher')[]
  readonly database: CrashDatabase
  readonly time: FastTime
  /** How far its clock is ahead of those before it, in milliseconds. */
  readonly aheadMs: number
  readonly horizon: Horizon
  /** Blocks that its chain begins with; a process that came before may have seen them. @default none */
  readonly minedBlocks?: number | undefined
  /** The first update that nobody confirmed yet. */
  readonly firstUpdate: number
  readonly death: Death | null
  /** Deliver everything, replay what was given up, and say so. */
  readonly finish: boolean
}

/** What it tells. */
export type CrashLine =
  | { readonly type: 'ready' }
  | { readonly type: 'dying' | 'frozen'; readonly point: Death['point'] }
  /** An update was accepted: it must never be lost. */
  | { readonly type: 'accepted'; readonly index: number; readonly outcome: string }
  | { readonly type: 'indexed'; readonly txHash: string }
  | { readonly type: 'delivered'; readonly txHash: string; readonly version: number }
  /** A late answer of a dispatcher that had lost its claim was thrown away. */
  | { readonly type: 'claim lost' }
  | { readonly type: 'turned'; readonly failing: boolean }
  | { readonly type: 'finished'; readonly replayed: number; readonly brokenAt: number | null }
