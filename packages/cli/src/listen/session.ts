/** Forwards the deliveries of a stream, prints them, and reconnects after a lost connection. @module */
import type { StreamedDeliveryBody } from '@payment-integration/contract/internal'
import { streamEvents, streamedDeliverySchema, streamReadySchema } from '@payment-integration/contract/internal'
import { parseForeignJson } from '@payment-integration/contract/internal-io'
import { verifySignature } from '@payment-integration/webhook'
import { UnusableServerError } from '../errors.js'
import { type ForwardedDelivery, forward } from '../forward.js'
import { splitSecrets } from '../input.js'
import type { Io } from '../io.js'
import { createStyle, type Reporter, roundDuration, shortHash } from '../output.js'
import { ConnectionLostError, readStream, type StreamEvent, type StreamTarget } from './stream.js'

/** The shortest and longest wait before a reconnection, in milliseconds; each wait is twice as long as the last. */
const reconnectMs = { min: 500, max: 30_000 } as const

interface ListenPlan extends StreamTarget {
  readonly forwardTo: URL
  /** Forwards deliveries created since this unix time in milliseconds; null: since now. */
  readonly since: number | null
  /** Null: signatures are not checked. */
  readonly signingSecret: string | null
}

/** Runs until `io.signal` aborts, then reports a summary. @throws UnusableServerError When reconnection cannot help. */
export async function runListen(
  plan: ListenPlan,
  report: Reporter,
  io: Pick<Io, 'now' | 'sleep' | 'signal' | 'color'>,
): Promise<void> {
  const style = createStyle(io.color)
  let lastId: string | null = null
  let waitMs: number = reconnectMs.min
  let [forwarded, accepted, connections] = [0, 0, 0]
  /** The number of stored deliveries received on this connection; null once the connection is live. */
  let missedCount: number | null = 0
  let resumed = false

  async function handle(event: StreamEvent): Promise<void> {
    const data = parseData(event)
    if (event.event === streamEvents.ready) {
      const ready = getValid(streamReadySchema().safeParse(data))
      ;({ resumed } = ready)
      connections += 1
      const [server, forwardTo] = [plan.server.href, plan.forwardTo.href]
      report({ event: 'listening', server, forwardTo, ...ready }, ({ notifies }) => [
        `${resumed ? 'Connected again to' : 'Listening to'} ${server}, forwarding to ${forwardTo}`,
        ...(notifies ? [] : [style.yellow(noUrlText)]),
      ])
    }
    if (event.event === streamEvents.delivery) await deliver(getValid(streamedDeliverySchema().safeParse(data)))
    if (event.event === streamEvents.live) {
      report({ event: 'caught_up', missed: missedCount ?? 0, resumed }, ({ missed }) => {
        if (missed === 0) return []
        return [resumed ? `Missed ${missed} while disconnected.` : `Sent ${missed} from before.`]
      })
      missedCount = null
    }
    // Remembers the event only after the POST: a reconnection repeats a delivery that was not forwarded.
    if (!io.signal.aborted) lastId = event.id ?? lastId
    waitMs = reconnectMs.min
  }

  async function deliver({ headers, body: text, chainId, txHash, version }: StreamedDeliveryBody): Promise<void> {
    const body = Buffer.from(text, 'base64')
    /** Null: no signing secret was given. */
    const signatureValid = plan.signingSecret === null ? null : await isValid({ headers, body }, plan.signingSecret, io)
    const result = await forward({ headers, body }, { to: plan.forwardTo, io })
    if (io.signal.aborted && result.status === null) return
    forwarded += 1
    if (result.problem === null) accepted += 1
    /** Whether the delivery was stored while this command was disconnected, or before it started. */
    const missed = missedCount !== null
    if (missedCount !== null) missedCount += 1
    const at = new Date(io.now()).toISOString()
    const state = parseState(body)
    const event = { event: 'delivery', at, chainId, txHash, version, state, missed, signatureValid, ...result }
    report(event, ({ status, ms, problem }) => {
      const time = style.dim(at.slice(11, 19))
      const name = `v${version} ${shortHash(txHash)} on ${chainId} ${state?.slice(0, 40) ?? 'no state'}`
      const answered = `${status ?? 'no answer'} ${ms} ms`
      return [
        `${time} --> ${name}${missed ? ' (missed)' : ''}`,
        `${time} <-- ${problem === null ? style.green(answered) : style.red(`${answered}: ${problem}`)}`,
        ...(signatureValid === false ? [style.yellow(wrongSecretText)] : []),
      ]
    })
  }

  while (!io.signal.aborted) {
    missedCount = 0
    try {
      for await (const event of readStream(plan, { lastId, since: plan.since }, io)) {
        await handle(event)
        if (io.signal.aborted) break
      }
      throw new ConnectionLostError('the server ended the stream')
    } catch (error) {
      if (io.signal.aborted) break
      if (!(error instanceof ConnectionLostError)) throw error
      const retryInMs = Math.max(waitMs, error.retryAfterMs ?? 0)
      report({ event: 'disconnected', reason: error.message, retryInMs }, ({ reason }) => [
        style.yellow(`Disconnected: ${reason}. Next attempt in ${roundDuration(retryInMs / 1_000)}.`),
      ])
      await io.sleep(retryInMs, io.signal)
      waitMs = Math.min(waitMs * 2, reconnectMs.max)
    }
  }
  const [failed, reconnects] = [forwarded - accepted, Math.max(0, connections - 1)]
  report({ event: 'summary', forwarded, accepted, failed, reconnects }, () => [
    `${forwarded} forwarded, ${accepted} accepted, ${failed} failed, ${reconnects} reconnects.`,
  ])
}

const noUrlText = 'The integration has no notification URL, so it gets no deliveries: ask its operator to set one.'
const wrongSecretText = '  The signature does not match this signing secret: the receiver must reject it.'

function parseData({ data }: StreamEvent): unknown {
  try {
    return parseForeignJson(Buffer.from(data))
  } catch {
    throw new UnusableServerError('The server sent an event that is not JSON; it may run another version.')
  }
}

function getValid<T>(result: { readonly success: true; readonly data: T } | { readonly success: false }): T {
  if (result.success) return result.data
  throw new UnusableServerError('The server sent an event of an unknown form; it may run another version.')
}

async function isValid({ headers, body }: ForwardedDelivery, secrets: string, clock: Pick<Io, 'now'>) {
  const header = Object.entries(headers).find(([name]) => name.toLowerCase() === 'x-service-signature')?.[1]
  try {
    await verifySignature({ body, header, secrets: splitSecrets(secrets), clock })
    return true
  } catch {
    return false
  }
}

/** The payment's state, only for the printed line: the body is forwarded unchanged. */
function parseState(body: Buffer): string | null {
  try {
    const { state } = parseForeignJson(body) as { state?: unknown }
    return typeof state === 'string' ? state : null
  } catch {
    return null
  }
}
