/** Follows new heads over a WebSocket, and compares heights to find nodes that are behind. @module */
import type { Clock } from '@payment-integration/core/ports'
import { withDeadline } from './failures.js'
import { parseQuantity } from './hex.js'
import { createReconnect, openSocket, reconnectMs, type Socket } from './socket-wire.js'
import type { RpcOutcome } from './wire.js'

/** How long a reported height counts, in milliseconds. A real reorg is trusted after that. */
const headMemoryMs = 300_000

/** Most steps; the oldest are dropped first. */
const maxReportedHeads = 256

interface ReportedHead {
  readonly number: number
  /** When it was first reported. */
  readonly at: number
  readonly nodeIndex: number
}

/** The heights of one chain, over all its nodes. */
export interface Heads {
  /**
   * Node `by` reports `number` as its head.
   * @param isTrusted - Whether others are measured by it.
   * @returns How long a higher one has been known, in milliseconds; 0 when there is none.
   */
  report(nodeIndex: number, number: number, isTrusted: boolean): number
  /** Forgets the reports of a node. */
  forget(nodeIndex: number): void
  /** Newest reported height, or null. */
  highest(): number | null
}

/** Starts without any height. */
export function createHeads(clock: Clock): Heads {
  /** Ascending in number and in time. */
  let reportedHeads: ReportedHead[] = []
  return {
    report(nodeIndex, number, isTrusted) {
      const now = clock.now()
      while (
        reportedHeads.length > maxReportedHeads ||
        (reportedHeads[0] !== undefined && now - reportedHeads[0].at > headMemoryMs)
      )
        reportedHeads.shift()
      const higher = reportedHeads.find((step) => step.number > number)
      if (higher !== undefined) return now - higher.at
      if (isTrusted && (reportedHeads.at(-1)?.number ?? -1) < number) reportedHeads.push({ number, at: now, nodeIndex })
      return 0
    },
    forget(nodeIndex) {
      reportedHeads = reportedHeads.filter((step) => step.nodeIndex !== nodeIndex)
    },
    highest: () => reportedHeads.at(-1)?.number ?? null,
  }
}

/** A subscription that tells nothing while polling sees new heads is made again after this time, in milliseconds. */
const silentAfterMs = 10_000
/** Largest message on this connection, in bytes: headers alone. */
const maxMessageBytes = 1_048_576

/** The chain to follow, and its listeners. */
interface FollowHeadsOptions {
  readonly chainId: number
  /** `ws:` or `wss:`. */
  readonly url: string
  readonly clock: Clock
  readonly requestTimeoutMs: number
  /** Told of each new head. */
  readonly onHead: (number: number) => void
  /** Told when a connection ends that has told a head. */
  readonly onEnded: () => void
}

/** A subscription to new heads. */
export interface HeadFollower {
  /** Follows until the signal aborts; never rejects. Reconnects after a failure or silence, with growing waits. */
  run(signal: AbortSignal): Promise<void>
  /** Polling saw this head. */
  notePolled(number: number): void
  /** Whether this connection tells heads, and polling saw the newest of them and none above it. */
  announces(): boolean
}

/** Makes a subscription. Nothing is sent before `run`. */
export function followHeads(options: FollowHeadsOptions): HeadFollower {
  const { chainId, url, clock, requestTimeoutMs, onHead, onEnded } = options
  const reconnect = createReconnect(clock)
  let announcedHead = -1
  let polledHead: number | null = null
  /** The connection has told a head. */
  let hasAnnounced = false
  /** Since when polling knows a head that the subscription did not tell; null: it did. */
  let behindSince: number | null = null
  let reconnectNow = () => {}

  function accept(message: unknown, subscription: unknown): void {
    const head = parseHeadNotification(message, subscription)
    if (head === null) return
    announcedHead = Math.max(announcedHead, head)
    hasAnnounced = true
    behindSince = null
    reconnect.noteSuccess()
    onHead(head)
  }

  async function subscribe(signal: AbortSignal): Promise<void> {
    let subscription: unknown
    const early: unknown[] = []
    const onNotification = (message: unknown) => {
      if (subscription === undefined) early.push(message)
      else accept(message, subscription)
    }
    const connection = new AbortController()
    let socket: Socket | undefined
    const end = () => {
      connection.abort(signal.reason)
      socket?.close()
    }
    signal.addEventListener('abort', end, { once: true })
    reconnectNow = end
    try {
      await withDeadline(clock, requestTimeoutMs, connection.signal, async (limit) => {
        socket = await openSocket({ url, maxResponseBytes: maxMessageBytes, onNotification }, limit)
        const [chain] = await socket.send([{ method: 'eth_chainId', params: [] }], limit)
        if (parseQuantity(getResult(chain)) !== chainId) throw new TypeError('The node is on another chain.')
        const [answer] = await socket.send([{ method: 'eth_subscribe', params: ['newHeads'] }], limit)
        subscription = getResult(answer)
      })
      for (const message of early) accept(message, subscription)
      await socket?.ended
    } finally {
      socket?.close()
      signal.removeEventListener('abort', end)
    }
  }

  return {
    async run(signal) {
      while (!signal.aborted) {
        behindSince = null
        await subscribe(signal).catch(() => {})
        reconnect.noteFailure()
        if (hasAnnounced) {
          hasAnnounced = false
          onEnded()
        }
        // A node that tells one head and hangs up is not to be asked without end.
        await clock.sleep(Math.max(reconnect.waitMs(), reconnectMs.first), signal)
      }
    },
    announces: () => hasAnnounced && polledHead === announcedHead,
    notePolled(number) {
      polledHead = number
      if (number <= announcedHead) return
      behindSince ??= clock.now()
      if (clock.now() - behindSince < silentAfterMs) return
      behindSince = null
      reconnectNow()
    },
  }
}

/** @throws {TypeError} When the node rejected. */
function getResult(outcome: RpcOutcome | null | undefined): unknown {
  if (!outcome?.ok || outcome.result === undefined) throw new TypeError('The node rejected.')
  return outcome.result
}

/** The height that a notification of `subscription` tells, or null. */
function parseHeadNotification(message: unknown, subscription: unknown): number | null {
  const { params } = (message ?? {}) as {
    readonly params?: { readonly subscription?: unknown; readonly result?: unknown }
  }
  if (params?.subscription !== subscription) return null
  const header = (params?.result ?? {}) as { readonly number?: unknown }
  return parseQuantity(header.number)
}
