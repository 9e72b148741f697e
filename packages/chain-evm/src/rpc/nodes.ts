/** Chooses the node for the next work: by score, then latency, then order. @module */
import { parseUrl } from '@payment-integration/contract/internal'
import { assertWhole, createMonotonicClock } from '@payment-integration/core/internal'
import type { Clock, NodeStatus } from '@payment-integration/core/ports'
import { callSafely, createFailures, findSecretLabels } from './failures.js'
import { createHeadFollower, createHeads, type HeadFollower } from './follow-heads.js'
import { createHttpWire } from './http-wire.js'
import type { Node } from './json-rpc.js'
import { createNode, type ManagedNode } from './node.js'
import { createSocketWire } from './socket-wire.js'
import { createTransportWire, type Transport, type Wire } from './wire.js'

/** Smaller differences of scores do not count. */
const equalScoreMargin = 0.1
/** How many times faster than an earlier node a node must be: to stay in use, or to take over. */
const latencyFactors = { toTakeOver: 2, toStay: 1.25 } as const
/** Smaller differences of latency do not count, in milliseconds. */
const latencyNoiseMs = 10

/** Picks a node: healthy ones first, then paused ones, then benched ones. {@link latencyFactors} favor `current`. */
function chooseNode(candidates: readonly ManagedNode[], current: ManagedNode | undefined, now: number) {
  const rank = (node: ManagedNode) => (node.isBenched() ? 2 : 0) + (node.pausedUntil() > now ? 1 : 0)
  const bestRank = Math.min(...candidates.map(rank))
  const bestRanked = candidates.filter((node) => rank(node) === bestRank)
  // An odd rank: all of these are paused.
  if (bestRank % 2 === 1) return bestRanked.toSorted((a, b) => a.pausedUntil() - b.pausedUntil())[0]
  const top = Math.max(...bestRanked.map((node) => node.score()))
  let best: ManagedNode | undefined
  for (const node of bestRanked)
    if (top - node.score() < equalScoreMargin && (best === undefined || isFaster(node, best, node === current)))
      best = node
  return best
}

function isFaster(node: ManagedNode, preferred: ManagedNode, inUse: boolean): boolean {
  const [latency, preferredLatency] = [node.latencyMs(), preferred.latencyMs()]
  const factor = inUse ? latencyFactors.toStay : latencyFactors.toTakeOver
  return latency !== null && preferredLatency !== null && latency * factor + latencyNoiseMs < preferredLatency
}

/** Formats host and position, such as `rpc.node.example #2`. Masks long labels before the domain, which may be keys. */
export function formatNodeName(url: string | undefined, position: number): string {
  const hostname = parseUrl(url ?? '')?.hostname
  if (hostname === undefined) return `transport #${position}`
  const secret = new Set(findSecretLabels(hostname))
  const maskedHost = hostname
    .split('.')
    .map((label) => (secret.has(label) ? '*' : label))
    .join('.')
  return `${maskedHost} #${position}`
}

export interface NodeAddress {
  /** `http:`, `https:`, `ws:` or `wss:` URL. Required unless `transport` is given. Messages contain only its host. */
  readonly url?: string | undefined
  /** A viem transport to use instead. */
  readonly transport?: Transport | undefined
  /** `ws:` or `wss:` URL for a subscription to new heads. @default `url` if it is a WebSocket */
  readonly headsUrl?: string | undefined
  /** The name that operators see. @default host and position */
  readonly name?: string | undefined
}

export type Nodes = ReturnType<typeof createNodes>

export interface NodesOptions {
  readonly chainId: number
  /** At least one. Of equal nodes the first is used. */
  readonly nodes: readonly NodeAddress[]
  readonly clock: Clock
  /**
   * Initial limit of blocks per request for logs; adapts to each node. `Chain.ranges` yields at most 1_000 blocks in a
   * range, whatever the limit.
   * @default 2_000
   */
  readonly maxRange?: number | undefined
  /** How long one request and its whole answer may take, in milliseconds. @default 10_000 */
  readonly requestTimeoutMs?: number | undefined
  /** The most calls in one request. 1 turns JSON-RPC batches off. @default 100 */
  readonly batchSize?: number | undefined
  /** The most bytes of an answer with logs, receipts or blocks; other answers have lower limits. @default 67_108_864 */
  readonly maxResponseBytes?: number | undefined
}

/** The most blocks to which a smaller initial range grows. */
const maxGrownRange = 10_000

const httpProtocols = ['http:', 'https:']
const socketProtocols = ['ws:', 'wss:']

/**
 * Opens the nodes of a chain; sends nothing before the first work. Source: docs/decisions/following-a-chain.md.
 * @throws {TypeError | RangeError} When an option is wrong.
 */
export function createNodes(options: NodesOptions) {
  const { chainId, nodes: addresses, requestTimeoutMs = 10_000, batchSize = 100 } = options
  const { maxResponseBytes = 67_108_864, maxRange = 2_000 } = options
  for (const [name, value] of Object.entries({ chainId, requestTimeoutMs, batchSize, maxResponseBytes, maxRange }))
    assertWhole(name, value, 1)
  if (addresses.length === 0) throw new TypeError('No node is given; pass at least one.')
  const clock: Clock = {
    ...createMonotonicClock(options.clock),
    sleep: (ms, signal) => options.clock.sleep(ms, signal),
  }
  const heads = createHeads(clock)
  const followers = new Set<HeadFollower>()
  let current: ManagedNode | undefined
  let isClosed = false

  const nodes = addresses.map((address, index): ManagedNode => {
    const { wire, url } = openWire(address, { maxResponseBytes, clock })
    const name = address.name ?? formatNodeName(url, index + 1)
    const node = createNode({
      name,
      fail: createFailures(chainId, addresses.length > 1 ? name : undefined),
      wire,
      url,
      clock,
      requestTimeoutMs,
      batchSize,
      range: { start: maxRange, max: Math.max(maxRange, maxGrownRange) },
      isAlone: () => nodes.every((other) => other === node || other.isBenched() || other.pausedUntil() > clock.now()),
      measureLag: (head, isTrusted) => heads.report(index, head, isTrusted),
      onDistrust: () => {
        heads.forget(index)
        for (const other of nodes) other.forgetLag()
      },
      onHeadPolled: (number) => {
        for (const follower of followers) follower.notePolled(number)
      },
    })
    return node
  })

  function pick(tried: ReadonlySet<ManagedNode>): ManagedNode | undefined {
    const untried = tried.size === 0 ? nodes : nodes.filter((node) => !tried.has(node))
    return untried.length < 2 ? untried[0] : chooseNode(untried, current, clock.now())
  }

  return {
    /**
     * Runs `work` on the best node, and after `ERR_CHAIN_UNAVAILABLE` or `ERR_CHAIN_PROOF_FAILED` on the next best,
     * each at most once. Rejects with the first error; at once on `ERR_CHAIN_RANGE_GONE` and on the caller's abort.
     */
    async runPinned<T>(work: (node: Node) => Promise<T>, signal?: AbortSignal): Promise<T> {
      signal?.throwIfAborted()
      const tried = new Set<ManagedNode>()
      const errors: unknown[] = []
      for (let next = pick(tried); next !== undefined; next = pick(tried)) {
        if (tried.size === 0) {
          current = next
          if (!isClosed && nodes.length > 1) {
            for (const node of nodes) void node.probe(node === next)
          }
        }
        tried.add(next)
        const attempt = next.startAttempt()
        try {
          return await work(attempt.node)
        } catch (error) {
          if (signal?.aborted || !attempt.noteFailure(error)) throw error
          errors.push(error)
        }
      }
      throw errors[0]
    },
    status(): readonly NodeStatus[] {
      const next = pick(new Set())
      return nodes.map((node) => node.status(node === next))
    },
    /** As `Chain.watch`. */
    async watch(wake: () => void, signal: AbortSignal): Promise<void> {
      const onEnded = () => callSafely(wake)
      const runs = addresses.map(async ({ url, headsUrl = isSocket(url) ? url : undefined }, index) => {
        const node = nodes[index]
        if (headsUrl === undefined || node === undefined) return
        const onHead = (number: number) => {
          node.reportHead(number)
          callSafely(wake)
        }
        const follower = createHeadFollower({ chainId, url: headsUrl, clock, requestTimeoutMs, onHead, onEnded })
        followers.add(follower)
        await follower.run(signal)
        followers.delete(follower)
      })
      await Promise.all(runs)
    },
    /** As `Chain.announcesBlocks`. */
    announcesBlocks: () => [...followers].some((follower) => follower.announces()),
    /** Closes all connections and aborts requests. Later calls reject. */
    close(): void {
      isClosed = true
      for (const node of nodes) node.close()
    },
  }
}

function openWire(
  { url, transport, headsUrl }: NodeAddress,
  options: { readonly maxResponseBytes: number; readonly clock: Clock },
): { readonly wire: Wire; readonly url: string | undefined } {
  if (headsUrl !== undefined) checkUrl('headsUrl', headsUrl, socketProtocols)
  if (transport !== undefined) return createTransportWire(transport, url)
  if (url === undefined) throw new TypeError('A node has neither a URL nor a transport; give it one of them.')
  checkUrl('The URL of a node', url, [...httpProtocols, ...socketProtocols])
  return { wire: isSocket(url) ? createSocketWire({ url, ...options }) : createHttpWire({ url, ...options }), url }
}

/** @throws {TypeError} When `url` has none of the protocols. The message does not repeat it, for it may hold a key. */
function checkUrl(name: string, url: string, protocols: readonly string[]): void {
  if (!protocols.includes(parseUrl(url)?.protocol ?? ''))
    throw new TypeError(
      `${name} is not a URL with one of ${protocols.join(' ')}; for other protocols pass a viem transport.`,
    )
}

function isSocket(url: string | undefined): boolean {
  return socketProtocols.includes(parseUrl(url ?? '')?.protocol ?? '')
}
