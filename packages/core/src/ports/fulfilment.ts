/**
 * Payments that cross chains: what left one, and what arrived at the other. Source: docs/interface.md 2.1 (source);
 * docs/decisions/cross-chain.md.
 * @module
 */
import type { PaymentFacts, PricingFacts, TokenFacts } from '../payments/facts.js'

/** A payment that left its source chain through a bridge. */
export interface BridgeDeposit {
  /** What the source chain says of it, under the pair of the source chain. `tokenOut` is what the bridge took. */
  readonly payment: PaymentFacts
  /** Name of the bridge, such as `across`. */
  readonly bridge: string
  /** The bridge's own number of the deposit on the source chain, in decimal digits. */
  readonly depositId: string
  readonly destinationChainId: number
  /** Who is to get it there, lowercased. */
  readonly receiver: string
  /** What is to arrive: token, lowercased, and base units. */
  readonly output: { readonly token: string; readonly amount: bigint }
}

/** The other end of a deposit: the transaction on the destination chain that paid the receiver. */
export interface Fulfilment {
  readonly chainId: number
  readonly txHash: string
  readonly logIndex: number
  /**
   * Index of the log among those of its transaction: the same in whatever block that is mined, so that the payment
   * keeps its identity.
   *
   * @default `logIndex`
   */
  readonly position?: number | undefined
  readonly blockNumber: number
  readonly blockHash: string
  /** Unix time in milliseconds. */
  readonly blockTimestamp: number
  readonly receiver: string
  /** What the receiver got, in base units. */
  readonly tokenOut: TokenFacts & { readonly amount: bigint }
  /** That token as the list of known tokens has it; null when it is not listed. */
  readonly listedToken: PricingFacts['listedToken']
}

/** Tells what became of deposits. Rejects with a ChainError when it cannot be known now. */
export interface FulfilmentSource {
  /** The fulfilment of a deposit, once its block is final on the destination chain; null while there is none. */
  lookup(deposit: BridgeDeposit, signal?: AbortSignal): Promise<Fulfilment | null>
}
