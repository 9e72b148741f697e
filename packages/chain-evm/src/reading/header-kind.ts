/** Whether headers of a chain hash to their blocks' hashes. Source: docs/decisions/completeness.md. @module */
import type { BlockRef } from '@payment-integration/core/ports'
import type { Endpoint } from '../internal/endpoints.js'
import type { Failures } from '../internal/failures.js'

/** The kind of a chain's headers, as far as it is known. */
export interface HeaderKind {
  /** Whether any of them hashed to its block's hash: then all should. */
  isKnown: boolean
}

/** Chains whose headers hash to their blocks' hashes; of others it is learnt. */
const known: readonly number[] = [1, 10, 100, 137, 8_453, 42_161]

/** The kind of a chain's headers before any is read. */
export function headerKind(chainId: number): HeaderKind {
  return { isKnown: known.includes(chainId) }
}

/** A header that was held against its block's hash. */
export interface HashedHeader {
  readonly ref: BlockRef
  /** Whether its fields hash to the block's own hash: then they are those that the chain agreed on. */
  readonly isAuthentic: boolean
}

/**
 * Notes whether headers of this chain hash to their blocks' hashes. Where any does, one that does not was changed in
 * transit, and is not trusted.
 * @throws ChainError `ERR_CHAIN_PROOF_FAILED` on such a header.
 */
export function assertAuthentic(
  { endpoint, fail, headers: kind }: Readonly<{ endpoint: Endpoint; fail: Failures; headers: HeaderKind }>,
  headers: readonly HashedHeader[],
): void {
  if (headers.some(({ isAuthentic }) => isAuthentic)) kind.isKnown = true
  const changed = kind.isKnown ? headers.find(({ isAuthentic }) => !isAuthentic) : undefined
  if (changed === undefined) return
  const what = `the header of block ${changed.ref.number} does not hash to the block's hash`
  endpoint.note({ kind: 'proof-failed', what })
  throw fail.unproven(
    `${what}. Use another endpoint; on a chain whose headers are of a kind of their own, set its proof to none.`,
  )
}
