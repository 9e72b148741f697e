/** The ports to receipts of processors and fulfilments of bridges. @module */
import type { PaymentState, ProcessorUpdate } from '@payment-integration/contract'
import type { PaymentFacts, PricingFacts, StoredPayment, TokenFacts } from '../payments/payment.js'

/** Polled for payments without a final state. */
export interface ReceiptSource {
  /**
   * The payments that the source can answer for; others are not polled. Only payments of these chains are read from the
   * store, so name the chains as narrowly as possible.
   */
  readonly scope?:
    | {
        /** @default every state that is not final: null, `pending`, `refund_pending`; others have no effect */
        readonly states?: readonly (PaymentState | null)[] | undefined
        /** @default every chain */
        readonly chainIds?: readonly number[] | undefined
      }
    | undefined
  /**
   * Returns an update, or null when there is nothing new. Equal answers must have equal update ids, so that a second
   * poll changes nothing.
   *
   * Several calls run at once. A call that rejects is repeated in a later round. After an error whose `code` ends in
   * `_UNAVAILABLE`, the other payments of the chain wait for the next round. A call should take some seconds at most;
   * it must limit its own time.
   */
  lookup(payment: StoredPayment, signal?: AbortSignal): Promise<ProcessorUpdate | null>
}

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
