/** The operator of a deployment: runs what the message of a stopped chain says, with a node that is right. @module */
import type { EvmChain } from '@payment-integration/chain-evm'
import { reindex } from '@payment-integration/core'
import type { Store } from '@payment-integration/core/ports'

/** What the operator has at hand. */
export interface Operator {
  readonly store: Store
  /** Opens a chain client of a node that is to be believed. */
  readonly openChain: () => EvmChain
  readonly finalityBlocks: number
}

/**
 * Repairs a chain whose message names the command that does it.
 * @param message - What the status of the chain says.
 * @returns False when the message names no such command.
 */
export async function repairAsTold(message: string, { store, openChain, finalityBlocks }: Operator): Promise<boolean> {
  const from = /reindex --chain \d+ --from (\d+)/.exec(message)?.[1]
  if (from === undefined) return false
  const chain = openChain()
  try {
    const deps = { store, chain, publish: () => undefined, confirmations: { [chain.chainId]: finalityBlocks } }
    // The reports are what the command prints; running through them is what repairs.
    for await (const { repaired } of reindex(deps, { from: Number(from), repair: true })) void repaired
    return true
  } finally {
    chain.close()
  }
}
