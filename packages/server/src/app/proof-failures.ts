/** Remembers which endpoints recently failed a proof. @module */
import type { ChainStatus } from '@payment-integration/core'

/** How long a failed proof counts as recent, in milliseconds after it was noticed. */
export const proofNewsMs = 600_000

/**
 * Remembers the counts of failed proofs, which only grow. The returned function takes the current chains and resolves
 * whether any endpoint's count rose within {@link proofNewsMs}.
 *
 * @param now - Unix time in milliseconds.
 */
export function createProofFailures(now: () => number): (chains: readonly ChainStatus[]) => boolean {
  const noticed = new Map<string, { count: number; at: number }>()
  return (chains) => {
    const time = now()
    for (const { chainId, endpoints } of chains)
      for (const [position, { failedProofs }] of endpoints.entries()) {
        const key = `${chainId}:${position}`
        if (failedProofs > (noticed.get(key)?.count ?? 0)) noticed.set(key, { count: failedProofs, at: time })
      }
    return [...noticed.values()].some(({ at }) => time - at < proofNewsMs)
  }
}
