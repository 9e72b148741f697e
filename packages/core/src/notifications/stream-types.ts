/** The types of delivery streams. See docs/decisions/listen.md. @module */
import type { StreamedDeliveryBody, StreamReady } from '@payment-integration/contract'

/** A message of a stream. `id` is the position after it. */
export type StreamMessage =
  | { readonly kind: 'ready'; readonly id: string; readonly data: StreamReady }
  | { readonly kind: 'delivery'; readonly id: string; readonly data: StreamedDeliveryBody }
  /** The backlog is sent. */
  | { readonly kind: 'live'; readonly id: string }
  /** Nothing happened for a while. */
  | { readonly kind: 'heartbeat' }

/** A stream to open. */
export interface StreamRequest {
  /** The authenticated caller, lowercased. */
  readonly integrationAddress: string
  /** The caller's credentials, which are checked again while the stream is open. */
  readonly authorization: string | null
  /** The id of the last message that the caller has; null: none. */
  readonly lastEventId: string | null
  /** Without a last id: begins with deliveries of this unix time in milliseconds; null: begins now. */
  readonly since: string | null
  /** Ends the stream. */
  readonly signal: AbortSignal
}

/** Streams of deliveries. */
export interface DeliveryStreams {
  /**
   * Opens a stream of one integration, which has every delivery after its start at least once, in order. It ends when
   * the credentials are no longer valid, or the store fails. The caller must read it or abort its signal.
   * @returns Null when too many streams are open.
   * @throws BadRequestError `ERR_CURSOR_INVALID` For a malformed position or time.
   */
  open(request: StreamRequest): AsyncGenerator<StreamMessage, void, undefined> | null
  /** Ends all streams, and opens no more. */
  close(): void
}
