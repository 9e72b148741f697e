/** The operator: runs the command in a stopped chain's message. @module */
import type { EvmChain } from '@payment-integration/chain-evm'
import { reindex } from '@payment-integration/core'
import type { Store } from '@payment-integration/core/ports'

/** The operator's tools. */
export interface Operator {
  readonly store: Store
  /** Opens a chain client of an honest node. */
  readonly openChain: () => EvmChain
  readonly finalityBlocks: number
}

/**
 * Repairs a chain whose message names the repair command.
 * @param message - The error message in the chain's status.
 * @returns False when the message names no such command.
 */
export async function repairAsAdvised(
  message: string,
  { store, openChain, finalityBlocks }: Operator,
): Promise<boolean> {
  const from = /reindex --chain \d+ --from (\d+)/.exec(message)?.[1]
  if (from === undefined) return false
  const chain = openChain()
  try {
    const deps = { store, chain, publish: () => undefined, confirmations: { [chain.chainId]: finalityBlocks } }
    // The command prints the reports; iterating over them runs the repair.
    for await (const { repaired } of reindex(deps, { from: Number(from), repair: true })) void repaired
    return true
  } finally {
    chain.close()
  }
}
