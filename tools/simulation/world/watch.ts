/** Watches a running service: a correct result may hide wrong steps. @module */
import type { ServiceEvent } from '@payment-integration/core'
import type { Store } from '@payment-integration/core/ports'

/** The watch. */
export interface Watch {
  see(event: ServiceEvent): void
  reorganisations(): number
  /** Flaws seen so far, as text. */
  flaws(): Promise<string[]>
}

/** Starts watching. */
export function openWatch(store: Store, finalityBlocks: number): Watch {
  const flaws: string[] = []
  const looking: Promise<void>[] = []
  let reorganisations = 0

  /** In the simulation only a drop makes `failure`. Nothing may be dropped before its former height is final. */
  async function checkDrop(chainId: number, txHash: string): Promise<void> {
    const { payments, indexedTo } = await store.payments.transaction({ chainId, txHash })
    for (const { dropped, blockNumber, ordinal } of payments)
      if (dropped !== null && blockNumber + finalityBlocks > (indexedTo ?? 0))
        flaws.push(`${txHash}/${ordinal} of block ${blockNumber} was dropped at ${indexedTo}, before that was final`)
  }

  return {
    see(event) {
      if (event.type === 'payment.changed' && event.to === 'failure')
        looking.push(checkDrop(event.chainId, event.txHash))
      if (event.type !== 'chain.reorganised') return
      reorganisations += 1
      const { from, commonAncestor } = event
      if (from - commonAncestor > finalityBlocks)
        flaws.push(`blocks ${commonAncestor + 1} to ${from} were orphaned although some were final`)
    },
    reorganisations: () => reorganisations,
    async flaws() {
      await Promise.all(looking)
      return flaws
    },
  }
}
