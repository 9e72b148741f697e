/** Sends rows, numbers and jobs to open pages as server-sent events. @module */
import { setTimeout as sleep } from 'node:timers/promises'
import type { DeliveryFilter, DeliveryView } from '@payment-integration/core/internal'
import { matchesConsoleFilter } from '@payment-integration/core/internal'
import type { StoredPayment } from '@payment-integration/core/ports'
import type { QueryFields } from '../filters.js'
import { deliveryFilter, parseHash, parseWholeNumber, paymentFilter } from '../filters.js'
import type { Job, Jobs } from '../jobs.js'
import { JobProgress } from '../pages/jobs.js'
import type { LiveUpdates, NumberedEvent } from './live-updates.js'

/** Converts an event to the name and data of a server-sent event for one page; null: the page ignores the event. */
type MapEvent = (event: NumberedEvent['event']) => { readonly name: string; readonly json: string } | null

/** Opens the stream of a topic. @param fields - `topic`, and the filters of the page's URL. @throws FilterError */
export function openStream(updates: LiveUpdates, fields: QueryFields, after: string | null, lifetime: StreamLifetime) {
  const mapEvent = createEventMapper(fields)
  return openEventStream(
    (send) =>
      updates.follow(after, ({ id, event }) => {
        const sent = event.kind === 'failing' ? toFailingEvent(event.isFailing) : mapEvent(event)
        if (sent !== null) send(`event: ${sent.name}\nid: ${id}\ndata: ${sent.json}\n\n`)
      }),
    lifetime,
  )
}

const toFailingEvent = (isFailing: boolean) => ({ name: 'failing', json: JSON.stringify({ isFailing }) })
const stale = { name: 'stale', json: '{}' } as const

function createEventMapper(fields: QueryFields): MapEvent {
  switch (fields['topic']) {
    case 'payments': {
      const filter = paymentFilter(fields)
      const matches = (payment: StoredPayment) => payment.primary && matchesConsoleFilter(payment, filter)
      return mapRows((event) => event.kind === 'payment' && { ...event, matches: matches(event.payment) })
    }
    case 'deliveries': {
      const filter = deliveryFilter(fields)
      return mapRows(
        (event) => event.kind === 'delivery' && { ...event, matches: matchesDelivery(event.delivery, filter) },
      )
    }
    case 'payment': {
      const chainId = parseWholeNumber('chain', fields['chain'] ?? '')
      const txHash = parseHash(fields['hash'] ?? '')
      const isOfPayment = (row: { chainId: number; txHash: string }) => row.chainId === chainId && row.txHash === txHash
      return (event) => {
        const changed =
          event.kind === 'reset' ||
          (event.kind === 'payment' && isOfPayment(event.payment)) ||
          (event.kind === 'delivery' && isOfPayment(event.delivery))
        return changed ? stale : null
      }
    }
    default: {
      const part = fields['topic'] === 'chains' ? 'chains' : fields['range'] === '15m' ? '15m' : '1h'
      return (event) => (event.kind === 'overview' ? { name: 'overview', json: event.json[part] } : null)
    }
  }
}

type Row = { readonly html: string; readonly matches: boolean }

/** Maps an event about a listed row to the new row; the page removes a row that no longer matches its filters. */
function mapRows(findRow: (event: NumberedEvent['event']) => Row | false): MapEvent {
  return (event) => {
    if (event.kind === 'reset') return stale
    const row = findRow(event)
    return row === false ? null : { name: 'row', json: JSON.stringify({ html: row.html, matches: row.matches }) }
  }
}

function matchesDelivery(
  delivery: DeliveryView,
  { since = 0, until = Number.POSITIVE_INFINITY, ...named }: DeliveryFilter,
) {
  if (delivery.createdAt < since || delivery.createdAt >= until) return false
  return Object.entries(named).every(([name, value]) => value === undefined || Reflect.get(delivery, name) === value)
}

/** Changes within this time are sent together, in milliseconds. */
const togetherMs = 250

/** Whether a stream is about jobs. The topic is `job`, with an id, or `jobs`. */
export const isJobTopic = ({ topic }: QueryFields): boolean => topic === 'job' || topic === 'jobs'

/**
 * Opens the stream for the page of one job, or for the list of jobs. While a job runs, its page gets the changed part;
 * after the end, the page is loaded again.
 * @param shown - `id` of the job, undefined for the list; `after`: `jobs.position()` when the page was rendered.
 */
export function openJobStream(
  jobs: Jobs,
  { id, after }: { readonly id: string | undefined; readonly after: string | null },
  lifetime: StreamLifetime,
) {
  return openEventStream((send) => {
    const publish = createPublisher(send, jobs, id === undefined)
    const unfollow = jobs.follow((job) => void (id === undefined || job.id === id ? publish(job) : undefined))
    // Jobs may have changed since the page was read.
    const job = id === undefined ? jobs.list()[0] : jobs.find(id)
    if (job && after !== jobs.position()) void publish(job)
    return unfollow
  }, lifetime)
}

/** Creates the function that sends changes of jobs. @param isList - The page lists all jobs; it loads again instead. */
function createPublisher(send: Send, jobs: Jobs, isList: boolean) {
  let newest: Job | null = null
  return async (job: Job): Promise<void> => {
    const isWaiting = newest !== null
    newest = job
    if (isWaiting) return
    await sleep(togetherMs, undefined, { ref: false })
    const { state, isStopping } = newest
    const mustReload = isList || state !== 'running' || isStopping
    const [name, data] = mustReload ? ['stale', {}] : ['parts', { job: (<JobProgress job={newest} />).toString() }]
    send(`event: ${name}\nid: ${jobs.position()}\ndata: ${JSON.stringify(data)}\n\n`)
    newest = null
  }
}

const encoder = new TextEncoder()
const heartbeatMs = 15_000
/** The most bytes buffered for a slow connection. Beyond that the connection is dropped, and the browser reconnects. */
const maxWaiting = 1_000_000

export type Send = (text: string) => void

interface StreamLifetime {
  /** The stream ends after this time, in milliseconds. The browser then reconnects with its last event id. */
  readonly lifeMs: number
  readonly onClose: () => void
}

/** Opens a stream of server-sent events. @param start - Begins to send, and returns the function that stops it. */
export function openEventStream(start: (send: Send) => () => void, { lifeMs, onClose }: StreamLifetime) {
  let close = (): void => undefined
  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        let isOpen = true
        let unfollow = (): void => undefined
        const end = (closeController: () => void) => {
          if (!isOpen) return
          isOpen = false
          clearInterval(heartbeat)
          clearTimeout(life)
          unfollow()
          onClose()
          try {
            closeController()
          } catch {
            // The reader has already canceled the stream.
          }
        }
        close = () => end(() => controller.close())
        const send = (text: string) => {
          if (!isOpen) return
          // An error frees the buffered bytes at once; after a close they would wait for the reader.
          if ((controller.desiredSize ?? 0) <= 0)
            return end(() => controller.error(new Error('A page reads its events too slowly. It may connect again.')))
          controller.enqueue(encoder.encode(text))
        }
        const heartbeat = setInterval(() => send(': heartbeat\n\n'), heartbeatMs)
        heartbeat.unref?.()
        const life = setTimeout(() => {
          send('retry: 100\n\n')
          close()
        }, lifeMs)
        life.unref?.()
        send('retry: 2000\n\n')
        unfollow = start(send)
        // The stream may have ended during `start`.
        if (!isOpen) unfollow()
      },
      cancel: () => close(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: maxWaiting }),
  )
  return { stream, close: () => close() }
}
