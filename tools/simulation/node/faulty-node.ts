/** A node that sends wrong answers by seed. @module */
import type { Draws } from '../random.js'
import { spoil } from './answer-faults.js'
import { type Answer, buildJsonReply, type Call, type Item, type Outcome, parseRequest, type Reply } from './calls.js'
import { applyEpisode, drawEpisode, type Episode } from './episodes.js'
import { episodes, type FaultName, type FaultRates, itemFaults, requestFaults } from './fault-names.js'

/** The parts of a misbehaving node. */
export interface FaultyNodeParts {
  /** The honest node behind this one. */
  readonly honest: Answer
  /** A node of another chain, which sometimes replaces this one. */
  readonly foreign: Answer
  readonly draws: Draws
  readonly rates: FaultRates
  /** Number of requests at the start that `foreign` answers. @default 0 */
  readonly foreignRequests?: number | undefined
}

/** A node behind one address. */
export interface FaultyNode {
  /** Answers the body of a request. */
  handle(body: string): Promise<Reply>
  /** Ends all faults. */
  heal(): void
  /** How often each fault happened. */
  readonly faultCounts: ReadonlyMap<FaultName, number>
}

/** Most failures in a row of the same call of a contract. */
const maxFailedCalls = 2

export function createFaultyNode({ honest, foreign, draws, rates, foreignRequests = 0 }: FaultyNodeParts): FaultyNode {
  const faultCounts = new Map<FaultName, number>()
  const inARowByCall = new Map<string, number>()
  let isHealed = false
  let episode: Episode | null =
    foreignRequests > 0 ? { name: 'other-chain', requestsLeft: foreignRequests + 1, blocks: 0 } : null
  /** Whether another node replaces this one now. Then the node drops its connections, so clients can notice it. */
  let isSwapping = false

  const note = (fault: FaultName) => faultCounts.set(fault, (faultCounts.get(fault) ?? 0) + 1)
  function strikes(fault: FaultName): boolean {
    if (isHealed || !draws.chance(rates[fault] ?? 0)) return false
    note(fault)
    return true
  }

  function nextAnswer(): Answer {
    if (episode !== null) {
      episode.requestsLeft -= 1
      if (episode.requestsLeft <= 0) {
        isSwapping = episode.name === 'other-chain'
        episode = null
      }
    } else {
      episode = drawEpisode(rates, episodes, draws)
      if (episode !== null) note(episode.name)
      isSwapping = episode?.name === 'other-chain'
    }
    return episode === null ? honest : applyEpisode(episode, honest, foreign, draws)
  }

  /**
   * Whether a fault may happen now. Some faults look valid if they never stop: a contract may always fail,
   * and a chain may compute hashes in its own way. Those faults happen only a few times in a row.
   */
  function mayHappen(fault: FaultName, { method, params }: Call): boolean {
    const maxInARow =
      fault === 'header-changed' ? 1 : fault === 'item-error' && method === 'eth_call' ? maxFailedCalls : null
    if (maxInARow === null) return true
    const name = `${fault} ${JSON.stringify(params[0])}`
    const inARow = inARowByCall.get(name) ?? 0
    inARowByCall.set(name, inARow < maxInARow ? inARow + 1 : 0)
    return inARow < maxInARow
  }

  async function answerItem(answer: Answer, call: Call): Promise<Outcome> {
    const isTag = call.params[0] === 'finalized' || call.params[0] === 'safe'
    if (isTag && strikes('finalized-back')) return answer({ ...call, params: ['earliest', ...call.params.slice(1)] })
    let outcome = await answer(call)
    for (const fault of itemFaults) {
      if (fault === 'finalized-back' || isHealed || !draws.chance(rates[fault] ?? 0)) continue
      if (!mayHappen(fault, call)) continue
      const spoilt = spoil(fault, call, outcome, draws)
      if (JSON.stringify(spoilt) !== JSON.stringify(outcome)) note(fault)
      outcome = spoilt
    }
    return outcome
  }

  function answerBatch(answers: readonly unknown[]): Reply {
    let sent = [...answers]
    if (sent.length > 1 && strikes('batch-item-missing')) {
      const missing = draws.whole(0, sent.length - 1)
      sent = sent.filter((_, index) => index !== missing)
    }
    if (sent.length > 1 && strikes('batch-reordered')) sent = draws.shuffled(sent)
    if (strikes('batch-item-error')) {
      const at = draws.whole(0, sent.length - 1)
      sent = sent.map((item, index) =>
        index === at ? buildErrorItem((item as Item).id, -32000, 'header not found') : item,
      )
    }
    if (strikes('batch-id-changed')) {
      const at = draws.whole(0, sent.length - 1)
      sent = sent.map((item, index) => (index === at ? { ...(item as Item), id: 1_000_000 } : item))
    }
    return buildJsonReply(sent)
  }

  return {
    faultCounts,
    heal() {
      isHealed = true
      episode = null
      isSwapping = false
    },
    async handle(body) {
      const { items, isBatch } = parseRequest(body)
      const answer = isHealed ? honest : nextAnswer()
      if (isSwapping) {
        isSwapping = false
        return { kind: 'reset' }
      }
      for (const fault of requestFaults)
        if (fault !== 'cut-json' && strikes(fault)) return buildFaultyReply(fault, items, isBatch, draws)
      const answers = []
      for (const { id, method, params } of items)
        answers.push({ jsonrpc: '2.0', id, ...(await answerItem(answer, { method, params })) })
      const reply = isBatch ? answerBatch(answers) : buildJsonReply(answers[0])
      return reply.kind === 'answer' && strikes('cut-json') ? { ...reply, body: cut(reply.body, draws) } : reply
    },
  }
}

function cut(body: string, draws: Draws): string {
  return body.slice(0, draws.whole(1, Math.max(1, body.length - 1)))
}

function buildErrorItem(id: unknown, code: number, message: string) {
  return { jsonrpc: '2.0', id, error: { code, message } }
}

function buildFaultyReply(
  fault: Exclude<(typeof requestFaults)[number], 'cut-json'>,
  items: readonly Item[],
  isBatch: boolean,
  draws: Draws,
): Reply {
  const answer = (
    status: number,
    type: string,
    body: string,
    headers: Readonly<Record<string, string>> = {},
  ): Reply => ({
    kind: 'answer',
    status,
    headers: { 'content-type': type, ...headers },
    body,
  })
  const limited = JSON.stringify(buildErrorItem(items[0]?.id ?? null, -32005, 'rate limit reached'))
  switch (fault) {
    case 'rate-limit':
      return answer(429, 'application/json', limited)
    case 'rate-limit-retry-after':
      return answer(429, 'text/plain', 'slow down', { 'retry-after': String(draws.whole(0, 3)) })
    case 'html-502':
      return answer(502, 'text/html', '<html><body><h1>502 Bad Gateway</h1></body></html>')
    case 'empty-body':
      return answer(200, 'application/json', '')
    case 'reset':
      return { kind: 'reset' }
    case 'hang':
      return { kind: 'hang' }
    case 'batch-rejected':
      // One error object in place of the list, like nodes that reject batches.
      return isBatch ? buildJsonReply(buildErrorItem(null, -32600, 'batch too large')) : answer(503, 'text/plain', '')
  }
}
