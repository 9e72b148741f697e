/** The errors of the feed: one code for each reaction. @module */
import { CoreError } from '@payment-integration/core'

/**
 * The code of a {@link FeedError}.
 * - `ERR_FEED_UNAVAILABLE`: no server is connected, or none answers. Retry later.
 * - `ERR_FEED_MESSAGE`: a message is malformed, of another chain or of an unknown version. Read that block elsewhere.
 * - `ERR_FEED_GAP`: a block is missing, does not continue, or was read without a router. Read it elsewhere.
 * - `ERR_FEED_MOVED`: another publisher appended first. Read the newest message again.
 * - `ERR_FEED_BLOCK_TOO_LARGE`: the payments of one block exceed the server's `max_payload`. Raise it.
 * - `ERR_FEED_STREAM`: the stream cannot be created, or is not one of this feed. An operator must act.
 * - `ERR_FEED_DIVERGED`: no block of the stream is on the chain. An operator must delete the stream.
 * - `ERR_FEED_UNPROVEN`: the chain is read with the proof `none`. Only proven blocks are published.
 */
export type FeedErrorCode =
  | 'ERR_FEED_UNAVAILABLE'
  | 'ERR_FEED_MESSAGE'
  | 'ERR_FEED_GAP'
  | 'ERR_FEED_MOVED'
  | 'ERR_FEED_BLOCK_TOO_LARGE'
  | 'ERR_FEED_STREAM'
  | 'ERR_FEED_DIVERGED'
  | 'ERR_FEED_UNPROVEN'

const retryable: ReadonlySet<FeedErrorCode> = new Set(['ERR_FEED_UNAVAILABLE', 'ERR_FEED_MOVED'])

/** The feed cannot be read or written. No message holds a credential. */
export class FeedError extends CoreError {
  override readonly name = 'FeedError'
  readonly code: FeedErrorCode
  readonly retryable: boolean
  constructor(code: FeedErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.retryable = retryable.has(code)
  }
}
