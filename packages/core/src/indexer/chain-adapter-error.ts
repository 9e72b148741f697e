/** The error of a chain adapter that breaks its port. @module */
import { CoreError } from '../errors.js'

/**
 * A chain adapter handed over something that the port `Chain` does not allow. Nothing of it is stored or delivered.
 * Only a corrected adapter ends it.
 */
export class ChainAdapterError extends CoreError {
  override readonly name = 'ChainAdapterError'
  readonly code = 'ERR_CHAIN_ADAPTER'
  readonly retryable = false
  readonly chainId: number
  /** Name of the adapter. */
  readonly adapter: string
  /** The flaw with its place, such as `payments[2].txHash is "5Kd…"; expected 0x and 64 lowercase hex digits`. */
  readonly flaw: string
  constructor(chainId: number, adapter: string, flaw: string) {
    super(`The adapter ${adapter} of chain ${chainId} breaks the port Chain: ${flaw}.`)
    this.chainId = chainId
    this.adapter = adapter
    this.flaw = flaw
  }
}
