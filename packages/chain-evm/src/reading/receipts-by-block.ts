/**
 * Whether a node is asked for receipts by block. Some nodes lack the method; some fail for a large block, or refuse
 * every batch that holds it. After failures, receipts are read by transaction for some blocks, and for more each time.
 * @module
 */
import { isRateLimit } from '../internal/failures.js'
import type { Rpc } from '../internal/json-rpc.js'
import { isUnavailable } from './logs.js'
import { asksRaw, stopRaw } from './raw-receipts.js'

interface Known {
  isMissing: boolean
  /** Single blocks in a row that were asked for in vain. */
  failures: number
  /** Blocks that are read in the other way before this one is tried again, now and after the next time. */
  pause: number
  nextPause: number
  /** Blocks that were had in this way since it failed, or since the pause was made shorter. */
  since: number
}

/** Failures of single blocks, in a row, that are laid to the way of asking: an outage is as a rule over by then. */
const mostFailures = 3
const pauses = { first: 16, most: 1_024 } as const

const nodes = new WeakMap<Rpc, Known>()

function knownOf(rpc: Rpc): Known {
  const known = nodes.get(rpc) ?? { isMissing: false, failures: 0, pause: 0, nextPause: pauses.first, since: 0 }
  nodes.set(rpc, known)
  return known
}

/** Whether so many blocks that are read next are asked for in this way. */
export function goesByBlock(rpc: Rpc, blocks: number): boolean {
  const known = knownOf(rpc)
  if (known.isMissing) return false
  if (known.pause === 0) return true
  known.pause = Math.max(0, known.pause - blocks)
  return false
}

/** The node said that it has no such method. */
export function hasNone(rpc: Rpc): void {
  knownOf(rpc).isMissing = true
}

/** Runs what asks for blocks in this way, and learns from how it ends. */
export async function byBlock<T>(rpc: Rpc, blocks: number, ask: () => Promise<T>): Promise<T> {
  try {
    const answer = await ask()
    worked(knownOf(rpc), blocks)
    return answer
  } catch (error) {
    // Of several blocks fewer are tried first.
    if (blocks === 1 && isUnavailable(error) && !isRateLimit(error)) {
      // Raw receipts may be what fails, so JSON is tried before transactions.
      if (asksRaw(rpc)) stopRaw(rpc)
      else failed(knownOf(rpc))
    }
    throw error
  }
}

/** Small blocks say little about large ones, so the pause shrinks as slowly as it grew. */
function worked(known: Known, blocks: number): void {
  // Of several blocks none is the one that failed by itself.
  if (blocks === 1) known.failures = 0
  known.since += blocks
  if (known.since < known.nextPause) return
  known.since = 0
  known.nextPause = Math.max(pauses.first, known.nextPause / 2)
}

function failed(known: Known): void {
  known.failures += 1
  known.since = 0
  // Once it was given up, one failure is enough.
  if (known.failures < mostFailures && known.nextPause === pauses.first) return
  known.failures = 0
  known.pause = known.nextPause
  known.nextPause = Math.min(known.nextPause * 2, pauses.most)
}
