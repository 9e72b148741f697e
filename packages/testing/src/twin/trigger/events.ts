/** The events of a trigger, in the order of their causes. @module */
import type { ShareResponse, TriggerScenario } from '@payment-integration/contract'
import type { ExpectedVerdict } from '../network.js'

/** An event of a trigger. A `chainId` is a decimal string. */
export type TriggerEvent =
  /** A block with payments was mined. */
  | {
      readonly event: 'block'
      readonly chainId: string
      readonly blockNumber: number
      /** Hashes of its payments. */
      readonly txHashes: readonly string[]
    }
  /** The processor's update was applied. */
  | (Readonly<Record<'chainId' | 'txHash', string>> & { readonly event: 'update'; readonly state: string })
  /** The service stored a version. */
  | (Readonly<Record<'chainId' | 'txHash', string>> & {
      readonly event: 'snapshot'
      readonly version: number
      readonly state: string | null
      /** The exact bytes that are signed and sent, as text. */
      readonly body: string
    })
  /** A delivery was attempted; `expected` is the verdict of a correct receiver. */
  | (Readonly<Record<'chainId' | 'txHash', string>> & {
      readonly event: 'delivery'
      readonly version: number
      readonly expected: ExpectedVerdict
      /** Status of the receiver's answer; null: none came. */
      readonly status: number | null
    })
  /** Blocks were replaced; the payment is in a new block, or left the chain. */
  | (Readonly<Record<'chainId' | 'txHash', string>> & { readonly event: 'reorganised'; readonly included: boolean })
  /** A verification was shared: the request, and what the endpoint answers. */
  | {
      readonly event: 'share'
      readonly request: { readonly email: string; readonly kycShareToken: string }
      readonly status: number
      readonly answer: ShareResponse | { readonly error: string }
    }
  /** The scenario ended. Always the last event, unless it failed. */
  | {
      readonly event: 'done'
      readonly scenario: TriggerScenario
      readonly payments: number
      readonly snapshots: number
    }
  /** The scenario ended early. The endpoint sends it in place of an error. */
  | { readonly event: 'failed'; readonly reason: string }

/** A scenario ended early: the service or the receiver did not do what it needs. */
export class TriggerError extends Error {
  override readonly name = 'TriggerError'
  readonly code = 'ERR_TRIGGER'
}
