/** Lasting faults: a lagging node, rejected or cut ranges, another chain. @module */
import type { Draws } from '../random.js'
import type { Answer, Call, Outcome } from './calls.js'
import type { episodes, FaultRates } from './fault-names.js'

/** A fault in progress. */
export interface Episode {
  readonly name: (typeof episodes)[number]
  /** Requests until it ends. */
  requestsLeft: number
  /** Blocks behind the head, or blocks that one request for logs may span. */
  readonly blocks: number
}

/** Draws an episode, or null. */
export function drawEpisode(rates: FaultRates, names: typeof episodes, draws: Draws): Episode | null {
  for (const name of names)
    if (draws.chance(rates[name] ?? 0)) return { name, requestsLeft: draws.whole(3, 12), blocks: draws.whole(1, 5) }
  return null
}

/** Messages that reject a range without naming a limit. */
const rejections = ['die Spanne ist zu weit', 'query returned too much', 'please narrow your request', '']

/** Wraps the answers of a node in an episode. `foreign` is a node of another chain. */
export function applyEpisode(episode: Episode, honest: Answer, foreign: Answer, draws: Draws): Answer {
  switch (episode.name) {
    case 'other-chain':
      return foreign
    case 'lagging-head':
      return lagBehind(honest, episode.blocks)
    case 'lagging-at-times':
      return draws.chance(0.4) ? lagBehind(honest, episode.blocks) : honest
    case 'range-limit':
      return async (call) => {
        if ((await countBlocks(call, honest)) <= episode.blocks) return honest(call)
        return { error: { code: draws.pick([-32000, -32005, -32602]), message: draws.pick(rejections) } }
      }
    case 'range-cut':
      return async (call) => {
        const outcome = await honest(call)
        if (!('result' in outcome) || !Array.isArray(outcome.result)) return outcome
        if ((await countBlocks(call, honest)) <= episode.blocks) return outcome
        return { result: outcome.result.slice(0, Math.floor(outcome.result.length / 2)) }
      }
  }
}

interface Filter {
  readonly fromBlock?: string
  readonly toBlock?: string
  readonly blockHash?: string
}

/** How many blocks a request for logs spans; 0 for any other call. */
async function countBlocks(call: Call, honest: Answer): Promise<number> {
  if (call.method !== 'eth_getLogs') return 0
  const { fromBlock, toBlock, blockHash } = call.params[0] as Filter
  if (blockHash !== undefined) return 1
  const head = await getHead(honest)
  return getHeight(toBlock, head) - getHeight(fromBlock, head) + 1
}

/** A node whose head is `blocks` behind: higher blocks are missing, and log ranges are clipped silently. */
function lagBehind(honest: Answer, blocks: number): Answer {
  return async (call) => {
    const { method, params } = call
    const head = Math.max(0, (await getHead(honest)) - blocks)
    const tag = `0x${head.toString(16)}`
    const [first, ...others] = params
    if (method === 'eth_blockNumber') return { result: tag }
    if (method === 'eth_getLogs') return getLogsBehind(honest, first as Filter, head)
    if (method === 'eth_getBlockByNumber' || method === 'eth_getBlockReceipts') {
      if (first === 'latest' || first === 'pending') return honest({ method, params: [tag, ...others] })
      if (typeof first === 'string' && first.length < 66 && getHeight(first, head) > head) return { result: null }
    }
    const outcome = await honest(call)
    return hasItemAbove(outcome, head) ? { result: null } : outcome
  }
}

async function getLogsBehind(honest: Answer, filter: Filter, head: number): Promise<Outcome> {
  if (filter.blockHash !== undefined) {
    const outcome = await honest({ method: 'eth_getLogs', params: [filter] })
    return 'result' in outcome && Array.isArray(outcome.result) && outcome.result.some((log) => isAbove(log, head))
      ? { result: [] }
      : outcome
  }
  if (getHeight(filter.fromBlock, head) > head) return { result: [] }
  const toBlock = `0x${Math.min(head, getHeight(filter.toBlock, head)).toString(16)}`
  return honest({ method: 'eth_getLogs', params: [{ ...filter, toBlock }] })
}

function hasItemAbove(outcome: Outcome, head: number): boolean {
  return 'result' in outcome && [outcome.result].flat().some((item) => isAbove(item, head))
}

function isAbove(item: unknown, head: number): boolean {
  if (typeof item !== 'object' || item === null) return false
  const { blockNumber, number } = item as { blockNumber?: unknown; number?: unknown }
  const height = blockNumber ?? number
  return typeof height === 'string' && Number(height) > head
}

async function getHead(honest: Answer): Promise<number> {
  const outcome = await honest({ method: 'eth_blockNumber', params: [] })
  return 'result' in outcome ? Number(outcome.result) : 0
}

/** The height of a tag or number; any tag but `earliest` counts as the head. */
function getHeight(tag: string | undefined, head: number): number {
  if (tag === undefined || !tag.startsWith('0x')) return tag === 'earliest' ? 0 : head
  return Number(tag)
}
