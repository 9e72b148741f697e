/** Decides which blocks to read for an added router. Source: docs/decisions/following-a-chain.md. @module */
import { CheckpointMovedError } from '../errors.js'
import type { Store } from '../ports/store.js'
import type { RouterCoverage } from '../ports/store-chains.js'
import type { Checkpoint } from '../ports/store-transaction.js'

/** Stored for a chain that is indexed without any router, so that a router added later is known to be new. */
export const noRouter = `0x${'0'.repeat(40)}`

/** Blocks to read for one router, both ends included. */
export interface Gap {
  readonly router: string
  /** First block that is covered once the gap is closed. */
  readonly coveredFrom: number
  readonly from: number
  readonly to: number
}

/** Input of the decision, beside the stored coverage. */
export interface CoverageFacts {
  /** The routers that are read while following the head from now on, lowercased. */
  readonly routers: readonly string[]
  /** Height of the stored checkpoint. */
  readonly indexedTo: number
  /** First indexed block of the chain, for a chain without stored coverage. */
  readonly start: number
  /** Last block that this process read for its routers; another process indexed the blocks above. */
  readonly coveredTo: number
}

/**
 * Decides which coverage to store and which gaps to close.
 * - Without stored coverage, the routers are covered from the start on.
 * - The coverage of a removed router ends here; its payments stay.
 * - Coverage never reaches above the checkpoint, which a reorganisation may have moved down.
 * - A listed router that is not covered up to the checkpoint has a gap. The gap of an added router begins at the
 *   chain's first block.
 */
export function decideCoverage(
  rows: readonly RouterCoverage[],
  { routers, indexedTo, start, coveredTo }: CoverageFacts,
): { readonly changes: RouterCoverage[]; readonly gaps: Gap[] } {
  if (rows.length === 0) {
    const first = routers.length === 0 ? [noRouter] : routers
    return { changes: first.map((router) => ({ router, from: start, to: null })), gaps: [] }
  }
  const stored = new Map(rows.map((row) => [row.router, row]))
  const chainFrom = Math.min(...rows.map(({ from }) => from))
  const listed = new Set(routers)
  const changes: RouterCoverage[] = []
  const gaps: Gap[] = []
  for (const router of new Set([...stored.keys(), ...listed])) {
    const row = stored.get(router) ?? { router, from: chainFrom, to: chainFrom - 1 }
    const to = Math.min(row.to ?? coveredTo, indexedTo)
    const isListed = listed.has(router)
    const from = Math.max(row.from, to + 1)
    if (isListed && from <= indexedTo) gaps.push({ router, coveredFrom: row.from, from, to: indexedTo })
    const next = isListed && from > indexedTo ? null : to
    if (next !== row.to && stored.has(router)) changes.push({ router, from: row.from, to: next })
    if (next === null && !stored.has(router)) changes.push({ router, from: row.from, to: next })
  }
  return { changes, gaps }
}

/** Input of {@link reconcileCoverage}. */
export interface CoverageInput {
  readonly chainId: number
  readonly routers: readonly string[]
  readonly checkpoint: Checkpoint
  /** The configured start: a first block, or the head at that moment. */
  readonly startBlock: number | 'head'
  /**
   * The last checkpoint of this process, where another process has moved it since; null: the stored coverage is valid.
   */
  readonly checked: Checkpoint | null
}

/**
 * Updates the stored coverage for the routers that are read from now on.
 * @returns The gaps, by router.
 * @throws CheckpointMovedError `ERR_CHECKPOINT_MOVED` when the checkpoint is not the stored one; nothing is changed.
 */
export async function reconcileCoverage(
  store: Pick<Store, 'transaction' | 'chains'>,
  { chainId, routers, checkpoint, startBlock, checked }: CoverageInput,
): Promise<Gap[]> {
  const indexedTo = checkpoint.blockNumber
  const { changes, gaps } = decideCoverage(await store.chains.coverage(chainId), {
    routers,
    indexedTo,
    start: startBlock === 'head' ? indexedTo + 1 : Math.min(startBlock, indexedTo + 1),
    coveredTo: checked?.blockNumber ?? indexedTo,
  })
  if (changes.length === 0) return gaps
  await store.transaction(async (tx) => {
    const stored = await tx.lockChain(chainId)
    if (stored?.blockNumber !== indexedTo || stored.blockHash !== checkpoint.blockHash)
      throw new CheckpointMovedError(chainId)
    for (const change of changes) await tx.setCoverage(chainId, change)
  })
  return gaps
}
