/** The port by which notifications are posted. @module */

/** One signed notification, ready to be posted. */
export interface PostRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The exact bytes that were signed. */
  readonly body: Uint8Array
  /**
   * Time limit for DNS, connect, TLS, headers and body together, in milliseconds. A 2xx answer is complete with its
   * headers; its body may be cut short.
   */
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
  /** The delivery of this attempt, for its trace. @default none: a test of an endpoint */
  readonly delivery?: PostedDelivery | undefined
}

/** Names a delivery and its attempt. */
export interface PostedDelivery {
  readonly chainId: number
  readonly txHash: string
  /** Lowercased. */
  readonly integrationAddress: string
  readonly deliveryId: string
  readonly version: number
  /** Number of the attempt, from 1. */
  readonly attempt: number
}

/** Why no usable HTTP answer arrived. Coarse on purpose, so that a receiver cannot map our network by it. */
export type PostFailure = 'timeout' | 'connection' | 'refused_address' | 'malformed_answer'

/** The result of a POST. */
export type PostResult =
  | {
      readonly kind: 'answer'
      /** HTTP status; redirects are not followed. */
      readonly status: number
      /** The `Retry-After` header as sent, or null. */
      readonly retryAfter: string | null
      /**
       * The first bytes of the body as text without control characters, at most 1,024 (`excerptBytes`); null when none
       * arrived in time.
       */
      readonly excerpt: string | null
      readonly latencyMs: number
    }
  | {
      readonly kind: 'failure'
      readonly reason: PostFailure
      /** HTTP status of a malformed answer; null when none was read. It decides nothing. @default null */
      readonly status?: number | null | undefined
      readonly latencyMs: number
    }

/** Posts a notification. Never rejects: every outcome is a result. */
export interface Sender {
  post(post: PostRequest): Promise<PostResult>
}
