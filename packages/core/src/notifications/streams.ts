/** Streams the deliveries of one integration as they are stored. See docs/decisions/trigger-and-listen.md. @module */
import type { StreamedDeliveryBody, StreamReady } from '@payment-integration/contract/internal'
import { InvalidParameterError } from '../errors.js'
import type { Caller } from '../integrations/integration.js'
import { describeError } from '../internal/values.js'
import { createStreamPositionCodec } from '../payments/cursor.js'
import { type Clock, createMonotonicClock, createSleeper, type Logger } from '../ports/runtime.js'
import type { Store } from '../ports/store.js'
import type { MasterKey } from '../secrets/keys.js'
import { buildDeliveryHeaders, type OpenSecret } from './attempt.js'
import type { StreamedDelivery } from './delivery-store.js'

/** A message of a stream. `id`: the position in the stream after the message. */
export type StreamMessage =
  | { readonly kind: 'ready'; readonly id: string; readonly data: StreamReady }
  | { readonly kind: 'delivery'; readonly id: string; readonly data: StreamedDeliveryBody }
  /** All stored deliveries are sent; from now on, new ones follow. */
  | { readonly kind: 'live'; readonly id: string }
  /** No message was sent for 5 seconds. */
  | { readonly kind: 'heartbeat' }

interface StreamRequest extends Caller {
  /** The caller's credentials, checked again while the stream is open. */
  readonly authorization: string | null
  /** The id of the last message that the caller has; null: none. */
  readonly lastEventId: string | null
  /** Without a last id, the stream begins with deliveries created since this unix time in milliseconds; null: now. */
  readonly since: string | null
  readonly signal: AbortSignal
}

export interface DeliveryStreams {
  /**
   * Opens a stream of one integration: every delivery after its start at least once, in order. It ends when the
   * credentials are no longer valid or the store fails. The caller must read it or abort its signal. Null: too many
   * streams are open.
   * @throws InvalidParameterError `ERR_CURSOR_INVALID` for a malformed position or time.
   */
  open(request: StreamRequest): StreamMessages | null
  /** Ends all streams, and opens no more. */
  close(): void
}

const maxStreams = { perIntegration: 5, perProcess: 100 } as const

/** Longest time between two reads of the end of the deliveries, in milliseconds: a wake may be lost. */
const tailPollMs = 1_000
/** Shortest time between two reads of the end of the deliveries, in milliseconds. */
const tailGapMs = 100

interface StreamDeps {
  readonly store: Pick<Store, 'deliveries' | 'integrations'>
  readonly openSecret: OpenSecret
  readonly clock: Clock
  readonly logger: Logger
  authenticate(authorization: string | null): Promise<Caller | null>
  readonly keys: MasterKey
}

/** Finds the end of the stored deliveries. It reads the store only while a stream follows it. */
function createTail({ store: { deliveries }, clock, logger }: StreamDeps) {
  const listeners = new Set<() => void>()
  const sleeper = createSleeper(clock)
  let knownEnd: string | null = null
  let isRunning = false

  async function run(): Promise<void> {
    isRunning = true
    const stopWaiting = deliveries.whenDue(sleeper.wake)
    while (listeners.size > 0) {
      await read()
      if (listeners.size > 0) await sleeper.sleep(tailPollMs)
      if (listeners.size > 0) await clock.sleep(tailGapMs)
    }
    stopWaiting()
    // A later stream must not begin at this end, which is old by then.
    knownEnd = null
    isRunning = false
  }

  async function read(): Promise<void> {
    try {
      const upTo = await deliveries.completeUpTo()
      if (upTo === knownEnd) return
      knownEnd = upTo
      for (const listener of [...listeners]) listener()
    } catch (error) {
      logger.warn({ error: describeError(error) }, 'The end of the deliveries could not be read; streams wait for it.')
    }
  }

  return {
    /** The id up to which every delivery is stored; null: not known yet. */
    getEnd: () => knownEnd,
    /** Calls `listener` when the end changed. Returns the function that stops it. */
    follow(listener: () => void): () => void {
      listeners.add(listener)
      if (!isRunning) void run()
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) sleeper.wake()
      }
    },
    /** Reads soon, because a delivery may have been stored. */
    wake: sleeper.wake,
  }
}

/** The most deliveries in memory per stream: while its reader pauses, no more are read. */
const batch = 16
/** Time without a message until a heartbeat, in milliseconds. Credentials are checked as often. */
const heartbeatMs = 5_000

interface StreamStart extends Caller {
  /** Begins after this delivery; null: no position was given. */
  readonly resumeAfter: string | null
  /** Without a position: begins with deliveries created since this unix time in milliseconds; null: now. */
  readonly createdSince: number | null
  /** Whether the caller's credentials are still valid. */
  isAdmitted(): Promise<boolean>
  readonly signal: AbortSignal
}

type StreamMessages = AsyncGenerator<StreamMessage, void, undefined>

/** A message of a stream has the signed headers, and no user agent. */
async function buildSignedBody(delivery: StreamedDelivery, integrationAddress: string, secret: string, now: number) {
  const { body, chainId, txHash, version, createdAt } = delivery
  const { 'User-Agent': _, ...headers } = await buildDeliveryHeaders({ integrationAddress, body }, secret, now)
  return {
    headers,
    body: Buffer.from(body).toString('base64'),
    chainId: String(chainId),
    txHash,
    version,
    createdAt: new Date(createdAt).toISOString(),
  }
}

/** Builds the streams of a process. They cost nothing until one is opened. */
export function createDeliveryStreams(deps: StreamDeps): DeliveryStreams & { wake(): void } {
  const { authenticate, keys, openSecret, clock, logger } = deps
  const { deliveries, integrations } = deps.store
  const tail = createTail(deps)
  const positions = createStreamPositionCodec(keys)
  /** The open streams, each with its integration. */
  const openStreams = new Map<AbortController, string>()
  let isClosed = false

  /** The id before the first delivery created since the given time; null: no time, or no delivery is so new. */
  async function findStartPosition({ createdSince, integrationAddress }: StreamStart): Promise<string | null> {
    if (createdSince === null) return null
    // Not the newest id of an older delivery: ids and times may be in different orders.
    const [first] = await deliveries.list({ integrationAddress, since: createdSince, limit: 1 })
    return first === undefined ? null : String(Number(first.deliveryId) - 1)
  }

  /** The current signing secret: a rotation takes effect at the next batch. Null: none can be opened. */
  async function openSigningSecret(integrationAddress: string): Promise<string | null> {
    const integration = await integrations.find(integrationAddress)
    if (integration === null) return null
    try {
      return openSecret(integration.signingSecret, integrationAddress)
    } catch {
      // The code that failed saw the secret, so its error is not logged.
      logger.error({ integrationAddress }, 'secret unreadable; the stream ends')
      return null
    }
  }

  /** Yields the messages of a stream. It ends with the signal, the credentials, or an error. */
  async function* yieldMessages(start: StreamStart, sleep: (ms: number) => Promise<unknown>): StreamMessages {
    const { integrationAddress, isAdmitted, signal } = start
    const encodeId = (deliveryId: string) => positions.encode(deliveryId, integrationAddress)
    const monotonicClock = createMonotonicClock(clock)
    let after: string | null = null
    let readUpTo: string | null = null
    let sentAt = monotonicClock.now()

    while (!signal.aborted) {
      const upTo = tail.getEnd()
      if (upTo !== null && after === null) {
        after = start.resumeAfter ?? (await findStartPosition(start)) ?? upTo
        const notifies = ((await integrations.find(integrationAddress))?.notificationUrl ?? null) !== null
        yield { kind: 'ready', id: encodeId(after), data: { resumed: start.resumeAfter !== null, notifies } }
        sentAt = monotonicClock.now()
      }
      if (upTo !== null && after !== null && upTo !== readUpTo) {
        const isFirst = readUpTo === null
        for (let hasReadAll = false; !hasReadAll; ) {
          const part = await deliveries.stream({ integrationAddress, afterId: after, upToId: upTo, limit: batch })
          if (part.length > 0 && !(await isAdmitted())) return
          const secret = part.length > 0 ? await openSigningSecret(integrationAddress) : ''
          if (secret === null) return
          for (const delivery of part) {
            if (signal.aborted) return
            const data = await buildSignedBody(delivery, integrationAddress, secret, clock.now())
            after = delivery.deliveryId
            yield { kind: 'delivery', id: encodeId(after), data }
            sentAt = monotonicClock.now()
          }
          hasReadAll = part.length < batch
          // An embedded store and a fast reader may never leave this turn of the event loop; others need a turn.
          if (!hasReadAll) await clock.sleep(0, signal)
        }
        readUpTo = upTo
        if (isFirst) yield { kind: 'live', id: encodeId(after) }
      }
      // Only messages of this stream delay its heartbeat, so that it reveals no traffic of other streams.
      const dueInMs = sentAt + heartbeatMs - monotonicClock.now()
      if (dueInMs > 0 && tail.getEnd() === upTo) await sleep(dueInMs)
      if (signal.aborted || monotonicClock.now() - sentAt < heartbeatMs) continue
      if (!(await isAdmitted())) return
      yield { kind: 'heartbeat' }
      sentAt = monotonicClock.now()
    }
  }

  /** Follows the tail while the stream is read. `onEnd` is called also after an abort. */
  async function* follow(start: StreamStart, onEnd: () => void): StreamMessages {
    const sleeper = createSleeper(clock)
    const unfollow = tail.follow(sleeper.wake)
    try {
      yield* yieldMessages(start, (ms) => sleeper.sleep(ms, start.signal))
    } catch (error) {
      const { integrationAddress } = start
      logger.warn({ integrationAddress, error: describeError(error) }, 'A stream ended with an error.')
    } finally {
      unfollow()
      onEnd()
    }
  }

  return {
    wake: tail.wake,
    close() {
      isClosed = true
      for (const controller of [...openStreams.keys()]) controller.abort()
    },
    open({ integrationAddress, authorization, lastEventId, since, signal }) {
      const resumeAfter = lastEventId === null ? null : positions.decode(lastEventId, integrationAddress)
      const createdSince = since === null ? null : parseSince(since)
      const openCount = [...openStreams.values()].filter((each) => each === integrationAddress).length
      const isFull = openCount >= maxStreams.perIntegration || openStreams.size >= maxStreams.perProcess
      if (isClosed || isFull) return null
      const controller = new AbortController()
      openStreams.set(controller, integrationAddress)
      const isAdmitted = async () => (await authenticate(authorization))?.integrationAddress === integrationAddress
      const stop = () => controller.abort()
      const start = { integrationAddress, resumeAfter, createdSince, isAdmitted, signal: controller.signal }
      const stream = follow(start, stop)
      const onEnd = () => {
        signal.removeEventListener('abort', stop)
        openStreams.delete(controller)
        // A stream whose reader is gone would never reach its end.
        void stream.return()
      }
      controller.signal.addEventListener('abort', onEnd, { once: true })
      signal.addEventListener('abort', stop, { once: true })
      if (signal.aborted) stop()
      return stream
    },
  }
}

function parseSince(text: string): number {
  if (!/^[0-9]{1,15}$/.test(text))
    throw new InvalidParameterError('ERR_CURSOR_INVALID', 'since is not a unix time in whole milliseconds')
  return Number(text)
}
