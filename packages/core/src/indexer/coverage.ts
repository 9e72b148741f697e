/** Which blocks were read for which router, and what is missing. Source: issue 4, point 1 (a router that is added). @module */
import { CheckpointMovedError } from '../errors.js'
import type { Store } from '../ports/store.js'
import type { RouterCoverage } from '../ports/store-chains.js'
import type { Checkpoint } from '../ports/store-transaction.js'

/** Noted for a chain that is followed without any router, so that one added to it is known to be new. */
export const noRouter = `0x${'0'.repeat(40)}`

/** Blocks that are to be read for one router, both ends included. */
export interface Gap {
  readonly router: string
  /** First block that is covered once the gap is closed. */
  readonly coveredFrom: number
  readonly from: number
  readonly to: number
}

/** What is known when coverage is looked at. */
export interface CoverageFacts {
  /** The routers that are read along with the chain from now on, lowercased. */
  readonly routers: readonly string[]
  /** Height of the stored checkpoint. */
  readonly indexedTo: number
  /** First block of the chain, where nothing is noted yet. */
  readonly start: number
  /** Up to where the blocks are known to have been read for the routers that are read along; another writer went on from there. */
  readonly through: number
}

/**
 * Decides what to note and what to read.
 * - Nothing noted: the routers are covered from the start on.
 * - A router that is noted as read along and is not any more is covered up to here, and keeps its payments.
 * - Coverage never reaches above the checkpoint, which a reorganisation may have moved down.
 * - A listed router that is not covered up to the checkpoint has a gap. A new one's begins where the chain's does.
 */
export function decideCoverage(
  rows: readonly RouterCoverage[],
  { routers, indexedTo, start, through }: CoverageFacts,
): { readonly notes: RouterCoverage[]; readonly gaps: Gap[] } {
  if (rows.length === 0) {
    const first = routers.length === 0 ? [noRouter] : routers
    return { notes: first.map((router) => ({ router, from: start, to: null })), gaps: [] }
  }
  const noted = new Map(rows.map((row) => [row.router, row]))
  const chainFrom = Math.min(...rows.map(({ from }) => from))
  const listed = new Set(routers)
  const notes: RouterCoverage[] = []
  const gaps: Gap[] = []
  for (const router of new Set([...noted.keys(), ...listed])) {
    const row = noted.get(router) ?? { router, from: chainFrom, to: chainFrom - 1 }
    const to = Math.min(row.to ?? through, indexedTo)
    const following = listed.has(router)
    const from = Math.max(row.from, to + 1)
    if (following && from <= indexedTo) gaps.push({ router, coveredFrom: row.from, from, to: indexedTo })
    const next = following && from > indexedTo ? null : to
    if (next !== row.to && noted.has(router)) notes.push({ router, from: row.from, to: next })
    if (next === null && !noted.has(router)) notes.push({ router, from: row.from, to: next })
  }
  return { notes, gaps }
}

/** What {@link reconcileCoverage} needs to know. */
export interface CoverageQuestion {
  readonly chainId: number
  readonly routers: readonly string[]
  readonly checkpoint: Checkpoint
  /** The start that the host names: a first block, or the head at the start. */
  readonly startBlock: number | 'head'
  /** The last checkpoint of this process, when another one went on from there; null: what is noted holds. */
  readonly ours: Checkpoint | null
}

/**
 * Brings what is noted in line with the routers that are read from now on.
 * @returns The gaps, by router.
 * @throws CheckpointMovedError `ERR_CHECKPOINT_MOVED` when the checkpoint is not the stored one; nothing is changed.
 */
export async function reconcileCoverage(
  store: Pick<Store, 'transaction' | 'chains'>,
  { chainId, routers, checkpoint, startBlock, ours }: CoverageQuestion,
): Promise<Gap[]> {
  const indexedTo = checkpoint.blockNumber
  const { notes, gaps } = decideCoverage(await store.chains.coverage(chainId), {
    routers,
    indexedTo,
    start: startBlock === 'head' ? indexedTo + 1 : Math.min(startBlock, indexedTo + 1),
    through: ours?.blockNumber ?? indexedTo,
  })
  if (notes.length === 0) return gaps
  await store.transaction(async (tx) => {
    const stored = await tx.lockChain(chainId)
    if (stored?.blockNumber !== indexedTo || stored.blockHash !== checkpoint.blockHash)
      throw new CheckpointMovedError(chainId)
    for (const note of notes) await tx.setCoverage(chainId, note)
  })
  return gaps
}
