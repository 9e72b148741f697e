/** Streams the deliveries of one integration. See docs/decisions/listen.md. @module */
import { BadRequestError } from '../errors.js'
import type { Store } from '../ports/store.js'
import type { Clock, Logger } from '../ports/world.js'
import type { MasterKey } from '../secrets/master-key.js'
import type { Caller } from '../service-types.js'
import { followStream, type StreamDeps } from './follow-stream.js'
import { createStreamCounter } from './stream-counter.js'
import { createStreamPositionCodec } from './stream-position.js'
import type { DeliveryStreams } from './stream-types.js'
import { createTail, type Tail } from './tail.js'

/** Limits and times of streams. */
export const streamLimits = { perIntegration: 5, perProcess: 100 } as const

/** The dependencies of streams. */
export interface DeliveryStreamsDeps {
  readonly store: Pick<Store, 'deliveries' | 'integrations'>
  authenticate(authorization: string | null): Promise<Caller | null>
  readonly openSecret: StreamDeps['openSecret']
  readonly keys: MasterKey
  readonly clock: Clock
  readonly logger: Logger
}

/** Builds the streams of a process. They cost nothing until one is opened. */
export function createDeliveryStreams(deps: DeliveryStreamsDeps): DeliveryStreams & Pick<Tail, 'wake'> {
  const { store, authenticate, openSecret, keys, clock, logger } = deps
  const tail = createTail({ deliveries: store.deliveries, clock, logger })
  const positions = createStreamPositionCodec(keys)
  const counter = createStreamCounter(streamLimits)
  const open = new Set<AbortController>()
  let isClosed = false

  return {
    wake: tail.wake,
    close() {
      isClosed = true
      for (const end of [...open]) end.abort()
    },
    open({ integrationAddress, authorization, lastEventId, since, signal }) {
      const resumed = lastEventId === null ? null : positions.decode(lastEventId, integrationAddress)
      const createdSince = since === null ? null : parseSince(since)
      const release = isClosed ? null : counter.open(integrationAddress)
      if (release === null) return null
      const end = new AbortController()
      open.add(end)
      const isAdmitted = async () => (await authenticate(authorization))?.integrationAddress === integrationAddress
      const messages = followStream(
        { deliveries: store.deliveries, integrations: store.integrations, openSecret, tail, positions, clock, logger },
        { integrationAddress, resumed, createdSince, isAdmitted, signal: end.signal },
      )
      const stop = () => end.abort()
      const finish = () => {
        signal.removeEventListener('abort', stop)
        open.delete(end)
        release()
        // A stream whose reader is gone would never reach its end.
        void messages.return()
      }
      end.signal.addEventListener('abort', finish, { once: true })
      signal.addEventListener('abort', stop, { once: true })
      if (signal.aborted) stop()
      return finishing(messages, finish)
    },
  }
}

async function* finishing<T>(messages: AsyncIterable<T>, finish: () => void): AsyncGenerator<T, void, undefined> {
  try {
    yield* messages
  } finally {
    finish()
  }
}

function parseSince(text: string): number {
  if (!/^[0-9]{1,15}$/.test(text))
    throw new BadRequestError('ERR_CURSOR_INVALID', 'since is not a unix time in whole milliseconds')
  return Number(text)
}
