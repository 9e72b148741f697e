/** The sample payment of a test delivery. Source: docs/decisions/portal.md. @module */
import { initialStatus } from '../payments/record.js'
import { snapshotBytes } from '../payments/snapshot.js'

/** The chain id of local test chains: no chain with money has it. */
export const sampleChainId = 31_337

/** Begins with `0x7e57`, like "test", and ends with zeros: no transaction has it. */
export const sampleTxHash = `0x7e57${'0'.repeat(60)}`

/**
 * The bytes of the sample: no state, so nothing is paid, and no invoice, so it has no amount. One hash for all samples
 * makes one row in a receiver that stores it; the rising version lets each one pass.
 */
export function sampleBody(integrationAddress: string, now: number): Uint8Array {
  const version = Math.max(1, Math.floor(now / 1_000))
  const recipient = { title: 'Test delivery', subtitle: 'This is no payment.' }
  return snapshotBytes(
    { integrationAddress, chainId: sampleChainId, txHash: sampleTxHash },
    { ...initialStatus, state: null, invoice: null, recipient, version },
  )
}
