/** Rejects a range whose blocks differ from the stored hashes. Source: docs/decisions/reorganisations.md. @module */
import { ChainError } from '../errors.js'
import type { BlockRange } from '../ports/chain.js'
import type { StoreTransaction } from '../ports/store-transaction.js'

/** Most stored heights that are compared with a range; of older heights the store keeps few. */
const maxHeights = 4_096

/**
 * Compares a range with the stored hashes of its heights. Call after `lockChain`.
 * @throws ChainError `ERR_CHAIN_RANGE_GONE` when one differs.
 */
export async function assertKnownHashes(
  tx: Pick<StoreTransaction, 'checkpoints'>,
  chainId: number,
  { first, last, blocks }: BlockRange,
): Promise<void> {
  const hashes = new Map(blocks.map(({ number, hash }) => [number, hash]))
  hashes
    .set(first.number, first.hash)
    .set(first.number - 1, first.parentHash)
    .set(last.number, last.hash)
  const limit = Math.min(maxHeights, last.number - first.number + 2)
  for (const { blockNumber, blockHash } of await tx.checkpoints(chainId, last.number, limit)) {
    const read = hashes.get(blockNumber)
    if (read !== undefined && read !== blockHash)
      throw new ChainError(
        'ERR_CHAIN_RANGE_GONE',
        chainId,
        `Block ${blockNumber} of chain ${chainId} has another hash than the one that is indexed.`,
      )
  }
}
