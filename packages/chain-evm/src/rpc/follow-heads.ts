/** Follows new heads over a WebSocket, and measures how far nodes lag behind the highest head. @module */
import type { Clock } from '@payment-integration/core/ports'
import { isFields } from './answers.js'
import { withDeadline } from './failures.js'
import { parseQuantity } from './hex.js'
import { createReconnect, openSocket, reconnectMs, type Socket } from './socket-wire.js'

/** How long a reported head counts, in milliseconds. A chain that really became shorter is accepted after this time. */
const headMemoryMs = 300_000
const maxReportedHeads = 256

/** Keeps the rising, trusted heads that the nodes of one chain reported. */
export function createHeads(clock: Clock) {
  /** Ascending in number and in `at`, the time of the first report. */
  let reportedHeads: { readonly number: number; readonly at: number; readonly nodeIndex: number }[] = []
  return {
    /**
     * Records a node's head; the lag of other nodes is measured by it if it is trusted.
     * @returns For how long a higher head has been known, in milliseconds; 0 if none is.
     */
    report(nodeIndex: number, number: number, isTrusted: boolean): number {
      const now = clock.now()
      reportedHeads = reportedHeads.slice(-maxReportedHeads).filter(({ at }) => now - at <= headMemoryMs)
      const higher = reportedHeads.find((head) => head.number > number)
      if (higher !== undefined) return now - higher.at
      if (isTrusted && (reportedHeads.at(-1)?.number ?? -1) < number) reportedHeads.push({ number, at: now, nodeIndex })
      return 0
    },
    forget(nodeIndex: number): void {
      reportedHeads = reportedHeads.filter((head) => head.nodeIndex !== nodeIndex)
    },
  }
}

/** How long an announced head may be behind polling, or too far above it, before a renewal, in milliseconds. */
const silentAfterMs = 10_000
/** An announced head that is more than this many blocks above the polled head is wrong. */
const maxLead = 100
/** The most messages that are kept until the subscription is answered. */
const maxEarlyMessages = 16
/** This connection carries only headers. */
const maxMessageBytes = 1_048_576

interface FollowHeadsOptions {
  readonly chainId: number
  /** `ws:` or `wss:`. */
  readonly url: string
  readonly clock: Clock
  readonly requestTimeoutMs: number
  readonly onHead: (number: number) => void
  /** Called when a connection that announced a head closes. */
  readonly onEnded: () => void
}

export type HeadFollower = ReturnType<typeof createHeadFollower>

export function createHeadFollower(options: FollowHeadsOptions) {
  const { chainId, url, clock, requestTimeoutMs, onHead, onEnded } = options
  const reconnect = createReconnect(clock)
  let announcedHead = -1
  let polledHead: number | null = null
  let hasAnnounced = false
  /** Since when the announced head has been behind polling, or too far above it; null: neither. */
  let wrongSince: number | null = null
  let reconnectNow = () => {}

  function accept(message: unknown, subscription: unknown): void {
    const head = parseHeadNotification(message, subscription)
    if (head === null) return
    announcedHead = head
    hasAnnounced = true
    wrongSince = null
    reconnect.noteSuccess()
    onHead(head)
  }

  async function subscribe(signal: AbortSignal): Promise<void> {
    let subscription: unknown
    const earlyMessages: unknown[] = []
    const onNotification = (message: unknown) => {
      if (subscription !== undefined) accept(message, subscription)
      else if (earlyMessages.length < maxEarlyMessages) earlyMessages.push(message)
    }
    const connection = new AbortController()
    let socket: Socket | undefined
    const disconnect = () => {
      connection.abort(signal.reason)
      socket?.close()
    }
    signal.addEventListener('abort', disconnect, { once: true })
    reconnectNow = disconnect
    try {
      await withDeadline(clock, requestTimeoutMs, connection.signal, async (deadline) => {
        socket = await openSocket({ url, maxResponseBytes: maxMessageBytes, onNotification }, deadline)
        const [chain] = await socket.send([{ method: 'eth_chainId', params: [] }], deadline)
        if (!chain?.ok || parseQuantity(chain.result) !== chainId)
          throw new TypeError('The node did not confirm its chain id.')
        const [answer] = await socket.send([{ method: 'eth_subscribe', params: ['newHeads'] }], deadline)
        if (!answer?.ok || answer.result === undefined) throw new TypeError('The node has no subscriptions.')
        subscription = answer.result
      })
      for (const message of earlyMessages) accept(message, subscription)
      await socket?.ended
    } finally {
      socket?.close()
      signal.removeEventListener('abort', disconnect)
    }
  }

  return {
    /** Runs until the signal aborts; reconnects after a failure or silence with growing waits. Never rejects. */
    async run(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        wrongSince = null
        await subscribe(signal).catch(() => {})
        reconnect.noteFailure()
        if (hasAnnounced) {
          hasAnnounced = false
          onEnded()
        }
        // The minimum slows reconnects to a node that announces one head and disconnects.
        await clock.sleep(Math.max(reconnect.waitMs(), reconnectMs.min), signal)
      }
    },
    /** Whether this connection announces heads, and polling has confirmed the newest one. */
    announces: () => hasAnnounced && polledHead === announcedHead,
    notePolled(number: number): void {
      polledHead = number
      if (number <= announcedHead && announcedHead - number <= maxLead) return
      wrongSince ??= clock.now()
      if (clock.now() - wrongSince < silentAfterMs) return
      wrongSince = null
      reconnectNow()
    },
  }
}

/** The height in a notification of `subscription`; null for any other message. */
function parseHeadNotification(message: unknown, subscription: unknown): number | null {
  const params = isFields(message) ? message['params'] : undefined
  if (!isFields(params) || params['subscription'] !== subscription) return null
  const header = params['result']
  return isFields(header) ? parseQuantity(header['number']) : null
}
