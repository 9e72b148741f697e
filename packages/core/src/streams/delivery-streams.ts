/** Streams the deliveries of one integration. See docs/decisions/listen.md. @module */
import { BadRequestError } from '../errors.js'
import type { Store } from '../ports/store.js'
import type { Clock, Logger } from '../ports/world.js'
import type { MasterKey } from '../secrets/master-key.js'
import type { Caller } from '../service-types.js'
import { createPlaces } from './places.js'
import { followStream, type StreamDeps } from './follow-stream.js'
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
  const { store, keys, clock, logger } = deps
  const tail = createTail({ deliveries: store.deliveries, clock, logger })
  const positions = createStreamPositionCodec(keys)
  const places = createPlaces(streamLimits)
  const closing = new AbortController()

  return {
    wake: tail.wake,
    close: () => closing.abort(),
    open({ integrationAddress, authorization, lastEventId, since, signal }) {
      const resumed = lastEventId === null ? null : positions.decode(lastEventId, integrationAddress)
      const createdSince = since === null ? null : parseSince(since)
      const release = closing.signal.aborted ? null : places.take(integrationAddress)
      if (release === null) return null
      const end = AbortSignal.any([signal, closing.signal])
      const isAdmitted = async () => (await deps.authenticate(authorization))?.integrationAddress === integrationAddress
      const start = { integrationAddress, resumed, createdSince, isAdmitted, signal: end }
      const messages = followStream({ ...deps, deliveries: store.deliveries, integrations: store.integrations, tail, positions }, start)
      // A stream that is ended before its first message never runs its own clean-up.
      end.addEventListener('abort', release, { once: true })
      return releasing(messages, release)
    },
  }
}

async function* releasing<T>(messages: AsyncIterable<T>, release: () => void): AsyncGenerator<T, void, undefined> {
  try {
    yield* messages
  } finally {
    release()
  }
}

function parseSince(text: string): number {
  if (!/^[0-9]{1,15}$/.test(text))
    throw new BadRequestError('ERR_CURSOR_INVALID', 'since is not a unix time in whole milliseconds')
  return Number(text)
}
