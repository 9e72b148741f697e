/** The stream of one chain: one subject for each height. Source: docs/decisions/chain-feed.md. @module */
import {
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StoredMsg,
} from '@nats-io/jetstream'
import { headers } from '@nats-io/transport-node'
import { parseInstant } from '@payment-integration/contract/internal-io'
import type { Clock } from '@payment-integration/core/ports'
import { type FeedConnection, FeedError } from './feed-connection.js'

export interface FeedMessage {
  /** Position in the stream: a later message has a greater one. */
  readonly sequence: number
  readonly publisher: string
  /** Unix time of the append by the server's clock, in milliseconds. */
  readonly storedAt: number
  readonly data: Uint8Array
}

interface FeedAppend {
  readonly height: number
  readonly data: Uint8Array
  readonly publisher: string
  /** Id of this append: a retry has another id, because the outcome of the first append may be unknown. */
  readonly id: string
}

/** The end of the stream that an append expects. */
interface ExpectedEnd {
  readonly sequence: number
  /**
   * Id of this publisher's previous append while that append may be unacknowledged, else null. The sequence alone is
   * then not enough: an append of another publisher may have taken it.
   */
  readonly previousId: string | null
}

interface FeedStreamLimits {
  /** Copies, on different servers. */
  readonly replicas: number
  readonly maxAgeMs: number
  readonly maxBytes: number
}

export type FeedStream = ReturnType<typeof createFeedStream>

const publisherHeader = 'Pi-Publisher'
/** The server's code for a last message that is not the expected one. */
const wrongLastMessageIdCode = 10_070
/** Longest wait for an answer, in milliseconds. */
const answerTimeoutMs = 3_000
/** Wait before a lost subscription is renewed, in milliseconds. */
const resubscribeMs = 1_000
/** Part of `max_payload` that headers may take, in bytes. */
const headerBytes = 1_024

/** Selects the message that a server returns. The types of the library lack the second form. */
type MessageQuery = { last_by_subj: string } | { seq: number; next_by_subj: string }

/**
 * Creates a client of a chain's stream, which keeps the newest message of each height. Nothing is sent before the first
 * call. All rejections are FeedErrors: `ERR_FEED_UNAVAILABLE`, or another code that the call names.
 */
export function createFeedStream(connection: FeedConnection, chainId: number, clock: Clock) {
  const name = `PI_CHAIN_FEED_${chainId}`
  const subjects = `pi.feed.${chainId}.*`
  const formatSubject = (height: number) => `pi.feed.${chainId}.${height}`

  async function manage<T>(call: (manager: JetStreamManager) => Promise<T>): Promise<T> {
    const nats = connection.current()
    return call(await jetstreamManager(nats, { checkAPI: false, timeout: answerTimeoutMs }))
  }

  async function get(query: MessageQuery): Promise<FeedMessage | null> {
    const stored = await manage(({ streams }) => streams.getMessage(name, query)).catch((error: unknown) => {
      if (hasCode(error, JetStreamApiCodes.StreamNotFound)) return null
      throw createUnavailableError(error)
    })
    return stored === null ? null : toMessage(stored)
  }

  return {
    chainId,
    /** The newest message, or null: no stream, or an empty one. Any read may reject with `ERR_FEED_MESSAGE`. */
    last: () => get({ last_by_subj: subjects }),
    /** The oldest message, or null. */
    first: () => get({ seq: 1, next_by_subj: subjects }),
    /** The newest message of a height, or null. */
    at: (height: number) => get({ last_by_subj: formatSubject(height) }),
    /** The sequence that the next append must expect, and the newest message (null in an empty stream). */
    async tail() {
      const { state } = await manage(({ streams }) => streams.info(name)).catch((error) => {
        throw createUnavailableError(error)
      })
      const message = state.messages === 0 ? null : await get({ last_by_subj: subjects })
      // After the servers elected a new leader of the stream, its data may lag for a moment.
      if (message !== null && message.sequence < state.last_seq)
        throw new FeedError('ERR_FEED_UNAVAILABLE', 'The servers of the feed disagree about its end.')
      return { sequence: message?.sequence ?? state.last_seq, message }
    },
    /**
     * Appends a block, only if the stream ends as expected.
     * @returns The new sequence. After `ERR_FEED_UNAVAILABLE` the outcome is unknown.
     * @throws FeedError `ERR_FEED_MOVED` when the stream ends elsewhere; `ERR_FEED_BLOCK_TOO_LARGE`.
     */
    async append({ height, data, publisher, id }: FeedAppend, end: ExpectedEnd): Promise<number> {
      const nats = connection.current()
      const maxBytesOfBlock = (nats.info?.max_payload ?? 0) - headerBytes
      if (data.length > maxBytesOfBlock)
        throw new FeedError(
          'ERR_FEED_BLOCK_TOO_LARGE',
          `Block ${height} of chain ${chainId} takes ${data.length} bytes, and the servers accept ${maxBytesOfBlock}. Raise max_payload of all servers; until then cells read their nodes.`,
        )
      const appendHeaders = headers()
      appendHeaders.set(publisherHeader, publisher)
      const expectedLast = end.previousId === null ? {} : { lastMsgID: end.previousId }
      const expect = { streamName: name, lastSequence: end.sequence, ...expectedLast }
      try {
        const client = jetstream(nats, { timeout: answerTimeoutMs })
        const options = { headers: appendHeaders, msgID: id, expect }
        return (await client.publish(formatSubject(height), data, options)).seq
      } catch (error) {
        const movedCodes = [JetStreamApiCodes.StreamWrongLastSequence, wrongLastMessageIdCode]
        if (movedCodes.some((code) => hasCode(error, code)))
          throw new FeedError('ERR_FEED_MOVED', `The feed of chain ${chainId} no longer ends at ${end.sequence}.`)
        throw createUnavailableError(error)
      }
    },
    /** Creates the stream unless it exists. @throws FeedError `ERR_FEED_STREAM`. */
    async prepare({ replicas, maxAgeMs, maxBytes }: FeedStreamLimits): Promise<void> {
      const config = {
        name,
        subjects: [subjects],
        storage: StorageType.File,
        retention: RetentionPolicy.Limits,
        discard: DiscardPolicy.Old,
        max_msgs_per_subject: 1,
        num_replicas: replicas,
        max_age: maxAgeMs * 1_000_000,
        max_bytes: maxBytes,
      }
      try {
        const streamInfo = await manage(({ streams }) => streams.info(name)).catch((error: unknown) => {
          if (hasCode(error, JetStreamApiCodes.StreamNotFound)) return manage(({ streams }) => streams.add(config))
          throw error
        })
        const isOurs = streamInfo.config.max_msgs_per_subject === 1 && streamInfo.config.subjects?.join() === subjects
        if (!isOurs)
          throw new FeedError(
            'ERR_FEED_STREAM',
            `The stream ${name} is not one of this feed: it needs the subject ${subjects} and one message for each subject.`,
          )
      } catch (error) {
        if (error instanceof FeedError) throw error
        if (!(error instanceof JetStreamApiError)) throw createUnavailableError(error)
        throw new FeedError('ERR_FEED_STREAM', `The stream ${name} cannot be created: ${error.message}.`)
      }
    },
    /** Calls `wake` for each appended block until the signal aborts. Never rejects. */
    async watch(wake: () => void, signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        await connection.ready(signal)
        if (signal.aborted) return
        try {
          const nats = connection.current()
          const subscription = nats.subscribe(subjects, { callback: () => wake() })
          const unsubscribe = () => subscription.unsubscribe()
          signal.addEventListener('abort', unsubscribe, { once: true })
          await Promise.race([subscription.closed, nats.closed()])
          signal.removeEventListener('abort', unsubscribe)
        } catch {
          // The connection ended meanwhile; the next one is awaited.
        }
        await clock.sleep(resubscribeMs, signal)
      }
    },
  }
}

function toMessage({ seq, header, timestamp, data }: StoredMsg): FeedMessage {
  const storedAt = parseInstant(timestamp)
  if (storedAt === null) throw new FeedError('ERR_FEED_MESSAGE', 'A message of the feed has no time.')
  return { sequence: seq, publisher: header.get(publisherHeader), storedAt, data }
}

function hasCode(error: unknown, code: number): boolean {
  return error instanceof JetStreamApiError && error.code === code
}

function createUnavailableError(error: unknown): FeedError {
  if (error instanceof FeedError) return error
  const reason = error instanceof Error ? error.message : 'unknown reason'
  return new FeedError('ERR_FEED_UNAVAILABLE', `The feed does not answer: ${reason}.`)
}
