/** Decides when a block is final. Source: docs/interface.md 8. @module */
import { finality } from '@payment-integration/contract'
import { assertWhole } from '../internal/values.js'

/** Confirmations until a block is final, by chain; null: never. */
export type Confirmations = Readonly<Record<number, number | null>>

/**
 * Builds the rule. The host's configuration overrides the table of docs/interface.md 8; a chain in neither is never
 * final. The checkpoint counts as the head: the stored payments are on its chain.
 */
export function createFinality(configured: Confirmations = {}) {
  for (const [chainId, blocks] of Object.entries(configured))
    if (blocks !== null) assertWhole(`confirmations of chain ${chainId}`, blocks, 0)
  const rows = Object.entries(finality).map(([chainId, row]) => [chainId, row.confirmations] as const)
  const byChain = new Map<string, number | null>([...rows, ...Object.entries(configured)])
  /** Confirmations until a block is final; null: never. */
  const confirmations = (chainId: number): number | null => byChain.get(String(chainId)) ?? null
  return {
    confirmations,
    /** Whether a block is final while its chain is indexed up to a height; null: not indexed. */
    isFinal(block: { readonly chainId: number; readonly blockNumber: number }, indexedTo: number | null): boolean {
      const blocks = confirmations(block.chainId)
      return blocks !== null && indexedTo !== null && block.blockNumber + blocks <= indexedTo
    },
  }
}
