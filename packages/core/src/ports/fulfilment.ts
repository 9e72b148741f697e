/**
 * Bridge deposits on a source chain and their fulfilments on the destination. Source: docs/interface.md 2.1 (source);
 * docs/decisions/cross-chain.md.
 * @module
 */
import type { PaymentFacts, PricingFacts, TokenFacts } from '../payments/payment.js'

/** A payment that left its source chain through a bridge. */
export interface BridgeDeposit {
  /** Its facts on the source chain, under source chain and transaction. `tokenOut` is the amount the bridge took. */
  readonly payment: PaymentFacts
  /** Name of the bridge, such as `across`. */
  readonly bridge: string
  /** The bridge's own number of the deposit on the source chain, in decimal digits. */
  readonly depositId: string
  readonly destinationChainId: number
  /** The receiver there, lowercased. */
  readonly receiver: string
  /** The promised amount there: token, lowercased, and base units. */
  readonly output: { readonly token: string; readonly amount: bigint }
}

/** The fulfilment of a deposit: the transaction on the destination chain that paid the receiver. */
export interface Fulfilment {
  readonly chainId: number
  readonly txHash: string
  readonly logIndex: number
  /**
   * Index of the log among those of its transaction. A reorganisation does not change it, so the payment keeps its
   * identity.
   *
   * @default `logIndex`
   */
  readonly position?: number | undefined
  readonly blockNumber: number
  readonly blockHash: string
  /** Unix time in milliseconds. */
  readonly blockTimestamp: number
  readonly receiver: string
  /** Received by the receiver, in base units. */
  readonly tokenOut: TokenFacts & { readonly amount: bigint }
  /** The entry of that token in the list of known tokens; null when it is not listed. */
  readonly listedToken: PricingFacts['listedToken']
}

/** Looks up fulfilments. Rejects with a ChainError when it cannot answer now. */
export interface FulfilmentSource {
  /** The fulfilment of a deposit, once its block is final on the destination chain; null while there is none. */
  lookup(deposit: BridgeDeposit, signal?: AbortSignal): Promise<Fulfilment | null>
}
