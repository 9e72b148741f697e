/** Sends the deliveries of one integration as they are stored. @module */
import {
  integrationHeader,
  jsonContentType,
  type StreamedDeliveryBody,
  signatureHeader,
} from '@payment-integration/contract'
import { signDelivery } from '@payment-integration/webhook/signing'
import { describeError } from '../internal/describe-error.js'
import type { OpenSecret } from '../notifications/opened-secrets.js'
import { createSleeper } from '../notifications/sleeper.js'
import type { DeliveryStore, StreamedDelivery } from '../ports/store-deliveries.js'
import type { IntegrationStore } from '../ports/store-integrations.js'
import type { Clock, Logger } from '../ports/world.js'
import { steadyNow } from '../world/system.js'
import type { StreamPositionCodec } from './stream-position.js'
import type { StreamMessage } from './stream-types.js'
import type { Tail } from './tail.js'

/** Deliveries in memory per stream: a reader that stops reads no more of them. */
const batch = 16
/** Time without a message until a heartbeat, in milliseconds. The credentials are checked as often. */
export const heartbeatMs = 5_000

/** The dependencies of a stream. */
export interface StreamDeps {
  readonly deliveries: Pick<DeliveryStore, 'stream' | 'newestId'>
  readonly integrations: Pick<IntegrationStore, 'find'>
  readonly openSecret: OpenSecret
  readonly tail: Tail
  readonly positions: StreamPositionCodec
  readonly clock: Clock
  readonly logger: Logger
}

/** Where a stream begins, and until when it goes on. */
export interface StreamStart {
  readonly integrationAddress: string
  /** Begins after this delivery; null: there is no such position. */
  readonly resumed: string | null
  /** Else with deliveries created since this time in unix milliseconds; null: now. */
  readonly createdSince: number | null
  /** Whether the caller's credentials are still valid. */
  isAdmitted(): Promise<boolean>
  readonly signal: AbortSignal
}

/** The messages of a stream. It ends with the signal, with the credentials, or after an error, which it logs. */
export async function* followStream(
  deps: StreamDeps,
  start: StreamStart,
): AsyncGenerator<StreamMessage, void, undefined> {
  const sleeper = createSleeper(deps.clock)
  const unfollow = deps.tail.follow(sleeper.wake)
  try {
    yield* messages(deps, start, (ms) => sleeper.sleep(ms, start.signal))
  } catch (error) {
    const { integrationAddress } = start
    deps.logger.warn({ integrationAddress, error: describeError(error) }, 'A stream ended with an error.')
  } finally {
    unfollow()
  }
}

async function* messages(
  deps: StreamDeps,
  start: StreamStart,
  sleep: (ms: number) => Promise<void>,
): AsyncGenerator<StreamMessage, void, undefined> {
  const { deliveries, tail, positions, clock } = deps
  const { integrationAddress, isAdmitted, signal } = start
  const idOf = (deliveryId: string) => positions.encode(deliveryId, integrationAddress)
  const elapsed = steadyNow(clock)
  let after: string | null = null
  let readUpTo: string | null = null
  let sentAt = elapsed()

  while (!signal.aborted) {
    const upTo = tail.upTo()
    if (upTo !== null && after === null) {
      after = start.resumed ?? (await firstPosition(deps, start)) ?? upTo
      const notifies = ((await deps.integrations.find(integrationAddress))?.notificationUrl ?? null) !== null
      yield { kind: 'ready', id: idOf(after), data: { resumed: start.resumed !== null, notifies } }
      sentAt = elapsed()
    }
    if (upTo !== null && after !== null && upTo !== readUpTo) {
      const isFirst = readUpTo === null
      for (let isWhole = false; !isWhole; ) {
        const part = await deliveries.stream({ integrationAddress, afterId: after, upToId: upTo, limit: batch })
        if (part.length > 0 && !(await isAdmitted())) return
        const secret = part.length > 0 ? await secretOf(deps, integrationAddress) : ''
        if (secret === null) return
        for (const delivery of part) {
          if (signal.aborted) return
          const data = await signedBody(delivery, { integrationAddress, secret, now: clock.now() })
          after = delivery.deliveryId
          yield { kind: 'delivery', id: idOf(after), data }
          sentAt = elapsed()
        }
        isWhole = part.length < batch
        // An embedded store and a fast reader may never leave this turn of the event loop: other requests need one.
        if (!isWhole) await clock.sleep(0, signal)
      }
      readUpTo = upTo
      if (isFirst) yield { kind: 'live', id: idOf(after) }
    }
    // Only the own messages move the heartbeat: a busy neighbour must not be visible in it.
    const dueInMs = sentAt + heartbeatMs - elapsed()
    if (dueInMs > 0 && tail.upTo() === upTo) await sleep(dueInMs)
    if (signal.aborted || elapsed() - sentAt < heartbeatMs) continue
    if (!(await isAdmitted())) return
    yield { kind: 'heartbeat' }
    sentAt = elapsed()
  }
}

/** The last delivery before the time at which the stream begins; null: it begins now. */
async function firstPosition(
  { deliveries }: Pick<StreamDeps, 'deliveries'>,
  { createdSince, integrationAddress }: StreamStart,
): Promise<string | null> {
  if (createdSince === null) return null
  return (await deliveries.newestId({ integrationAddress, until: createdSince })) ?? '0'
}

/** The signing secret of the moment: a rotation takes effect at the next batch. Null: none can be read. */
async function secretOf(deps: StreamDeps, integrationAddress: string): Promise<string | null> {
  const integration = await deps.integrations.find(integrationAddress)
  if (integration === null) return null
  try {
    return deps.openSecret(integration.signingSecret, integrationAddress)
  } catch {
    // The message of this error comes from code that saw the secret.
    deps.logger.error({ integrationAddress }, 'secret unreadable; the stream ends')
    return null
  }
}

async function signedBody(
  { body, chainId, txHash, version, createdAt }: StreamedDelivery,
  { integrationAddress, secret, now }: { integrationAddress: string; secret: string; now: number },
): Promise<StreamedDeliveryBody> {
  return {
    headers: {
      'Content-Type': jsonContentType,
      [integrationHeader]: integrationAddress,
      [signatureHeader]: await signDelivery({ secret, timestamp: Math.floor(now / 1_000), body }),
    },
    body: Buffer.from(body).toString('base64'),
    chainId: String(chainId),
    txHash,
    version,
    createdAt: createdAt === null ? null : new Date(createdAt).toISOString(),
  }
}
