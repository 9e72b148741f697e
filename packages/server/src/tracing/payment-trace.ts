/** Names the trace of a payment, equally in every process. Source: docs/observability.md. @module */
import { createHash } from 'node:crypto'

/** The payment of a trace. */
export interface TracedPayment {
  readonly chainId: number
  /** Lowercased. */
  readonly txHash: string
  /** Lowercased. */
  readonly integrationAddress: string
}

/** Ids of a trace, as lowercase hex. */
export interface PaymentTrace {
  /** 32 digits. */
  readonly traceId: string
  /** The parent of every span of the payment: 16 digits. No span has this id itself. */
  readonly parentId: string
}

/**
 * The ids are the first 24 bytes of SHA-256 over `<chainId>:<txHash>:<integrationAddress>`. So processes that share
 * nothing write into one trace, and a receiver can compute it from a delivery.
 */
export function paymentTrace({ chainId, txHash, integrationAddress }: TracedPayment): PaymentTrace {
  const digest = createHash('sha256').update(`${chainId}:${txHash}:${integrationAddress}`).digest('hex')
  return { traceId: digest.slice(0, 32), parentId: digest.slice(32, 48) }
}
