/** A delivery in this process: leased, then attempted. @module */
import type { AttemptRecord, AttemptVerdict, ClaimedDelivery } from '../ports/store-deliveries.js'

/** A claimed delivery with its lease, by the clock of this process. */
export interface LeasedDelivery {
  readonly claim: ClaimedDelivery
  /** Unix milliseconds before the claim was requested, so the store's lease ends no sooner than `leaseEndsAt`. */
  readonly claimedAt: number
  readonly leaseEndsAt: number
}

/** A recorded attempt, to be settled. */
export interface Attempted extends LeasedDelivery {
  /** The attempt before, if the receiver rejected its signature within the grace time of a rotation; else null. */
  readonly rejected: AttemptRecord | null
  readonly attempt: AttemptRecord
  readonly verdict: AttemptVerdict
  readonly countsForHealth: boolean
  /** Milliseconds from the commit of the snapshot, or its replay, to the end of the attempt. */
  readonly publishedMs: number
}

type DeliveryFields = Pick<
  ClaimedDelivery,
  'deliveryId' | 'chainId' | 'txHash' | 'integrationAddress' | 'version' | 'attempt'
>

/** The fields that identify a delivery in events and logs: no URL, no body, no secret. */
export function deliveryFields(delivery: DeliveryFields): DeliveryFields {
  const { deliveryId, chainId, txHash, integrationAddress, version, attempt } = delivery
  return { deliveryId, chainId, txHash, integrationAddress, version, attempt }
}
