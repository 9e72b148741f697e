/** One node of a chain: its requests, health and pauses. @module */
import { ChainError } from '@payment-integration/core'
import type { NodeStatus } from '@payment-integration/core/ports'
import { createChainGuard } from './chain-guard.js'
import { type Failures, isRateLimit } from './failures.js'
import { parseQuantity } from './hex.js'
import type { Node, NodeFinding, RequestEnd, RpcCall, RpcOptions } from './json-rpc.js'
import { createRpc } from './json-rpc.js'
import type { RangeSizeOptions } from './node-limits.js'
import { createBatchSize, createHealth, createRangeSize, createRateLimit } from './node-limits.js'
import type { Wire } from './wire.js'

/** The interval of head requests to idle nodes, and the shortest one to benched nodes, in milliseconds. */
const probeIntervalMs = 15_000
/** The weight of a new latency in the moving average. */
const latencyWeight = 0.2
/** Limit exceeded: providers use this code for rates, range sizes and quotas alike. */
const limitExceededCode = -32_005

interface NodeOptions extends Pick<RpcOptions, 'wire' | 'url' | 'clock' | 'requestTimeoutMs'> {
  readonly name: string
  readonly fail: Failures
  readonly batchSize: number
  readonly range: RangeSizeOptions
  /** Whether no other node can answer now, so that requests wait for the rate limit. */
  readonly isAlone: () => boolean
  /** Records a head; returns for how long a higher one has been known, in milliseconds (0: none). */
  readonly measureLag: (head: number, isTrusted: boolean) => number
  /** Called when the node's reported heads are no longer trusted. */
  readonly onDistrust: () => void
  /** Called with each head that the node answered. */
  readonly onHeadPolled: (number: number) => void
}

export type ManagedNode = ReturnType<typeof createNode>

export function createNode(options: NodeOptions) {
  const { name, fail, clock, isAlone, measureLag, onDistrust, onHeadPolled } = options
  const health = createHealth(clock)
  const sizes = createRangeSize(options.range)
  const batch = createBatchSize(options.batchSize)
  const rateLimit = createRateLimit(clock)
  const closing = new AbortController()
  /** How often each event was noted. */
  const events = { lost: 0, unusable: 0, gone: 0, contradiction: 0, 'proof-failed': 0 }
  const counts = { limitCodes: 0, rejected: 0, calls: 0, blocks: 0 }
  const wire: Wire = {
    ...options.wire,
    send(calls, signal) {
      counts.calls += calls.length
      return options.wire.send(calls, signal)
    },
  }
  let head: number | null = null
  let headAt = clock.now()
  let latencyMs: number | null = null
  let lastError: string | null = null
  let isProbing = false
  let probedAt = Number.NEGATIVE_INFINITY

  /** @param what - Becomes the last error. */
  function note(event: keyof typeof events, what?: string): void {
    events[event] += 1
    lastError = what ?? lastError
    health.note(event)
    if (event !== 'lost' && event !== 'unusable') onDistrust()
  }

  function onEnd(end: RequestEnd): void {
    // A rejection during a pause belongs to a request that was already in flight.
    if (end.kind !== 'limited' || clock.now() >= rateLimit.resumesAt()) batch.noteEnd(end)
    if (end.kind === 'answered') {
      health.note('answered')
      guard.noteAnswer()
      rateLimit.noteAnswer(clock.now() - end.ms)
      if (end.outcomes.some((outcome) => !outcome.ok && outcome.code === limitExceededCode)) counts.limitCodes += 1
      if (isLatencySample(end.calls))
        latencyMs = latencyMs === null ? end.ms : latencyMs + latencyWeight * (end.ms - latencyMs)
    } else if (end.kind === 'reconnects') guard.noteDisconnect()
    else if (end.kind === 'repeats') {
      guard.noteLoss()
      // Any failure but a rate limit ends the series of rejections.
      rateLimit.noteAnswer(clock.now())
    } else if (end.kind === 'limited') {
      lastError = end.error.message
      counts.rejected += 1
      rateLimit.noteRejection(end.retryAfter, batch.current() < end.calls.length)
    } else {
      lastError = end.error.message
      guard.noteLoss()
      if (end.isHostile) rateLimit.startRest()
      // A failed probe for raw receipts shows nothing about the node's health.
      if (end.calls.length === 1 && end.calls[0]?.method === 'debug_getRawReceipts') return
      note('lost')
    }
  }

  async function waitForPause(signal: AbortSignal | undefined): Promise<null> {
    closing.signal.throwIfAborted()
    while (clock.now() < rateLimit.resumesAt()) {
      if (rateLimit.isResting())
        throw fail.rateLimit('the node gets no requests for 10 minutes, because its answer was hostile.')
      if (!isAlone()) throw fail.rateLimit('the node asked for a pause.')
      await clock.sleep(rateLimit.resumesAt() - clock.now(), signal ?? closing.signal)
      signal?.throwIfAborted()
      closing.signal.throwIfAborted()
    }
    return null
  }

  const { requestTimeoutMs, url } = options
  const rpcOptions = { wire, url, clock, requestTimeoutMs, batchSize: batch.current, mayRepeat: isAlone, onEnd }
  const uncheckedRpc = createRpc(fail, { ...rpcOptions, beforeRequest: (_, signal) => waitForPause(signal) })
  const onWrongChain = (what: string) => note('contradiction', what)
  const guard = createChainGuard({ clock, fail, rpc: uncheckedRpc, closed: closing.signal, onWrongChain })
  const rpc = createRpc(fail, {
    ...rpcOptions,
    async beforeRequest(canAddChainId, signal) {
      await waitForPause(signal)
      return guard.check(canAddChainId, signal)
    },
  })

  /** Records a head from a subscription or a request. */
  function reportHead(number: number): void {
    head = number
    headAt = clock.now()
    health.setLag(measureLag(number, !health.isBenched()))
  }

  function acceptPolledHead(number: number): void {
    reportHead(number)
    onHeadPolled(number)
  }

  /** @returns Whether the size of the range may have caused the failure. */
  function noteRangeFailure(blocks: number, limitCodes: number): boolean {
    const cause = sizes.noteFailure(blocks)
    // If the smallest range gets the limit code too, the code means the rate.
    if (cause === 'not-size' && counts.limitCodes > limitCodes) rateLimit.noteRejection(null)
    return cause !== 'not-size'
  }

  const traffic = () => ({ receivedBytes: wire.receivedBytes(), rejectedRequests: counts.rejected })

  function startAttempt() {
    const { lost } = events
    const { limitCodes } = counts
    /** Whether a finding has explained the failure, so that the failure itself costs no further trust. */
    let isExplained = false
    function noteFinding(finding: NodeFinding): void {
      if (finding.kind === 'head') acceptPolledHead(finding.number)
      else if (finding.kind === 'blocks-read') counts.blocks += finding.blocks
      else if (finding.kind === 'range-read') sizes.noteSuccess(finding.blocks)
      else if (finding.kind === 'contradiction' || finding.kind === 'proof-failed') {
        isExplained = true
        note(finding.kind, finding.what)
      } else if (clock.now() >= rateLimit.resumesAt()) isExplained = noteRangeFailure(finding.blocks, limitCodes)
    }
    const node: Node = { name, rpc, maxRange: sizes.current, traffic, isAlone, note: noteFinding }
    return {
      node,
      /** Charges the failure to the node if the node caused it. @returns Whether to try another node. */
      noteFailure(error: unknown): boolean {
        if (!(error instanceof ChainError)) return false
        const isReported = isExplained || isRateLimit(error) || events.lost > lost
        if (error.code === 'ERR_CHAIN_RANGE_GONE') note('gone')
        else if (error.code === 'ERR_CHAIN_PROOF_FAILED' && !isExplained) note('proof-failed', error.message)
        else if (!isReported) note('unusable', error.message)
        return error.code !== 'ERR_CHAIN_RANGE_GONE'
      },
    }
  }

  function isDue(inUse: boolean): boolean {
    const now = clock.now()
    if (isProbing || now - probedAt < probeIntervalMs || now < rateLimit.resumesAt()) return false
    return health.isBenched() ? health.mayBeProbed() : !inUse && now - headAt >= probeIntervalMs
  }

  /** Asks for the head if that is due. Never rejects. */
  async function probe(inUse: boolean): Promise<void> {
    if (!isDue(inUse)) return
    isProbing = true
    probedAt = clock.now()
    try {
      const number = parseQuantity(await rpc.call({ method: 'eth_blockNumber', params: [] }, closing.signal))
      if (number === null) return note('contradiction', 'eth_blockNumber did not return a number.')
      acceptPolledHead(number)
      health.noteProbeAnswered()
    } catch {
      // The request has reported its own failure.
    } finally {
      isProbing = false
    }
  }

  return {
    name,
    score: health.score,
    /** Whether the node gets no work while another one is better, until a probe succeeds. */
    isBenched: health.isBenched,
    /** When a pause for the rate limit ends, by the clock. */
    pausedUntil: rateLimit.resumesAt,
    latencyMs: () => latencyMs,
    startAttempt,
    reportHead,
    /** Resets the lag when the node it was measured against is distrusted. */
    forgetLag: () => health.setLag(0),
    probe,
    status(inUse: boolean): NodeStatus {
      const { calls, blocks } = counts
      const { lost: failures, contradiction: contradictions, 'proof-failed': failedProofs } = events
      const counted = { failures, contradictions, failedProofs, calls, blocks, receivedBytes: wire.receivedBytes() }
      const score = health.isBenched() && !inUse ? 0 : health.score()
      return { name, score, inUse, head, latencyMs, ...counted, maxRange: sizes.current(), lastError }
    },
    close(): void {
      closing.abort(fail.unavailable('the node was closed.'))
      wire.close()
    },
  }
}

/** Whether a request is so small that its time is the latency of the connection. */
function isLatencySample(calls: readonly RpcCall[]): boolean {
  return calls.length <= 2 && calls.every(({ method }) => smallMethods.has(method))
}

const smallMethods: ReadonlySet<string> = new Set(['eth_blockNumber', 'eth_chainId', 'eth_getBlockByNumber'])
