/** Reads the raw bytes of a Node request, up to a limit. Source: docs/interface.md 6, signature rule 2. @module */
import { refusal } from './errors.js'
import { notRaw, tooLarge } from './internal/body.js'
import { concat } from './internal/concat.js'
import { kindOfBody } from './internal/kind-of-body.js'
import { checkedLimits } from './limits.js'

/** How much is read. */
export interface ReadBodyOptions {
  /** Largest accepted body, in bytes; the same as the verifier's. @default 262144 */
  readonly maxBytes?: number | undefined
}

/** How much of a body that is too large is read and thrown away, in bytes: 4 MiB. */
const drainedBytes = 4_194_304

/**
 * Reads a request to its end, for `verify`. A fetch handler does not need it: `verify(request)` reads by itself.
 * A body that is too large is discarded. Up to 4 MiB more are read, because many senders listen for the 413 only after
 * their last byte. The rest stays unread, and Node closes the connection after your answer.
 * The server's `requestTimeout` limits a slow sender.
 * @param request - A Node request that nothing has read from, or any other stream of bytes.
 * @throws {@link WebhookError} `ERR_BODY_TOO_LARGE` above `maxBytes`. `ERR_BODY_NOT_RAW` when something read, decoded
 * or parsed the body before. `ERR_BODY_UNREADABLE` when the stream fails, with the reason in `cause`.
 * @throws {RangeError} When `maxBytes` is not a whole number, 0 or more.
 * @example await verify({ body: await readBody(request), headers: request.headers })
 */
export async function readBody(request: AsyncIterable<Uint8Array>, options: ReadBodyOptions = {}): Promise<Uint8Array> {
  const { maxBytes } = checkedLimits(options)
  assertUntouched(request)
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of failingAsUnreadable(request)) {
    if (!ArrayBuffer.isView(chunk)) throw notRaw(`a stream whose pieces are not bytes but ${typeof chunk}`)
    length += chunk.byteLength
    if (length <= maxBytes) chunks.push(chunk)
    else chunks.length = 0
    if (length > maxBytes + drainedBytes) break
  }
  if (length > maxBytes) throw tooLarge()
  return concat(chunks, length)
}

/** State that streams of Node and of the web show. */
interface StreamState {
  readonly readableDidRead?: unknown
  readonly locked?: unknown
}

/** A consumed stream would read as an empty body, and the refusal would blame the signature. */
function assertUntouched(request: unknown): void {
  if (typeof request !== 'object' || request === null || !(Symbol.asyncIterator in request))
    throw notRaw(kindOfBody(request))
  const { readableDidRead, locked } = request as StreamState
  if (readableDidRead === true || locked === true) throw notRaw('a stream that something else has read from')
}

/** Tells the errors of the stream from those of its reader. */
async function* failingAsUnreadable(request: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* request
  } catch (cause) {
    throw refusal('ERR_BODY_UNREADABLE', 400, { cause })
  }
}
