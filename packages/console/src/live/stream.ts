/** One page's stream of server-sent events: the events of its topic that match its filters. @module */
import type { ConsolePaymentFilter, DeliveryFilter, DeliveryView, StoredPayment } from '@payment-integration/core/ports'
import { deliveryFilter, type Given, hashOf, paymentFilter, wholeOf } from '../filters.js'
import { openEventStream, type StreamEnd } from './event-stream.js'
import type { Feed, Numbered } from './feed.js'

/** Chooses what a page gets of an event: the name and data of a server-sent event, or null. */
type Choose = (event: Numbered['event']) => { readonly name: string; readonly json: string } | null

/**
 * Opens the stream of a topic.
 * @param given - `topic`, and the page's filters as in its own URL.
 * @throws FilterError For malformed filters.
 */
export function openStream(feed: Feed, given: Given, after: string | null, end: StreamEnd) {
  const choose = chooserOf(given)
  return openEventStream(
    (send) =>
      feed.follow(after, ({ id, event }) => {
        const chosen = event.kind === 'failing' ? failing(event.isFailing) : choose(event)
        if (chosen !== null) send(`event: ${chosen.name}\nid: ${id}\ndata: ${chosen.json}\n\n`)
      }),
    end,
  )
}

const failing = (isFailing: boolean) => ({ name: 'failing', json: JSON.stringify({ isFailing }) })
const stale = { name: 'stale', json: '{}' } as const

function chooserOf(given: Given): Choose {
  switch (given['topic']) {
    case 'payments': {
      const filter = paymentFilter(given)
      return rows((event) => event.kind === 'payment' && { ...event, matches: fitsPayment(event.payment, filter) })
    }
    case 'deliveries': {
      const filter = deliveryFilter(given)
      return rows((event) => event.kind === 'delivery' && { ...event, matches: fitsDelivery(event.delivery, filter) })
    }
    case 'payment': {
      const chainId = wholeOf('chain', given['chain'] ?? '')
      const txHash = hashOf(given['hash'] ?? '')
      const isOwn = (row: { chainId: number; txHash: string }) => row.chainId === chainId && row.txHash === txHash
      return (event) => {
        const changed =
          event.kind === 'reset' ||
          (event.kind === 'payment' && isOwn(event.payment)) ||
          (event.kind === 'delivery' && isOwn(event.delivery))
        return changed ? stale : null
      }
    }
    case 'chains':
      return (event) => (event.kind === 'overview' ? { name: 'overview', json: event.chainsJson } : null)
    default:
      return (event) => (event.kind === 'overview' ? { name: 'overview', json: event.json } : null)
  }
}

type Row = { readonly html: string; readonly matches: boolean }

/** A row that does not match any more is removed from the page. */
function rows(rowOf: (event: Numbered['event']) => Row | false): Choose {
  return (event) => {
    if (event.kind === 'reset') return stale
    const row = rowOf(event)
    return row === false ? null : { name: 'row', json: JSON.stringify({ html: row.html, matches: row.matches }) }
  }
}

function fitsPayment(payment: StoredPayment, filter: ConsolePaymentFilter): boolean {
  const { state, chainId, integrationAddress, since = 0, until = Number.POSITIVE_INFINITY } = filter
  if (!payment.primary || (state !== undefined && payment.state !== state)) return false
  if (chainId !== undefined && payment.chainId !== chainId) return false
  if (integrationAddress !== undefined && payment.integrationAddress !== integrationAddress) return false
  return payment.blockTimestamp >= since && payment.blockTimestamp < until
}

function fitsDelivery(
  delivery: DeliveryView,
  { since = 0, until = Number.POSITIVE_INFINITY, ...named }: DeliveryFilter,
) {
  const createdAt = delivery.createdAt ?? 0
  if (createdAt < since || createdAt >= until) return false
  return Object.entries(named).every(([name, value]) => value === undefined || Reflect.get(delivery, name) === value)
}
