/** Reads ranges proven by receipts roots or log filters. Source: docs/decisions/completeness.md. @module */
import type { BlockRange } from '@payment-integration/core/ports'
import { type BlockWithReceipts, readBlockReceipts, readBlocks } from './block-receipts.js'
import { mayHoldPayment, readCandidates } from './logs.js'
import { createPaymentCollector, toRange } from './proven-blocks.js'
import type { Header, RangeReader } from './range-reader.js'
import { assertChain, countTransactions, headersPerStep, readHeaders } from './range-reader.js'
import type { BloomPlan, RangeResult } from './range-sizing.js'

/** Limits the unparsed receipts in memory to a few megabytes. */
const transactionsPerStep = 400
/** As many blocks and receipts as fit into one request. */
const maxBlocksPerStep = 48

/** The most transactions in the candidate blocks of a range, which limits their facts to a few megabytes. */
export const maxTransactions = 2_000

/** A range with the counts that size the next one. */
export interface CountedRange extends Pick<RangeResult, 'candidates' | 'wholeBlocks' | 'transactions'> {
  readonly range: BlockRange
}

/**
 * Reads the range by log filters: whole, or until the candidates contain {@link maxTransactions}.
 * @throws ChainError `ERR_CHAIN_RANGE_GONE`, `ERR_CHAIN_PROOF_FAILED`.
 */
export function readByBloom(reader: RangeReader, plan: BloomPlan): Promise<CountedRange> {
  // Dense reading has no complete list of headers beforehand, so it cannot compare filters with `eth_getLogs`. Only
  // headers that hash to their block hashes make that comparison unnecessary.
  return plan.withTransactions === 'all' && reader.headerHashing.isExpected
    ? readDense(reader, plan.transactionsPerBlock)
    : readSparse(reader, plan.withTransactions !== 'none')
}

async function readSparse(reader: RangeReader, withTransactions: boolean): Promise<CountedRange> {
  const all = await readHeaders(reader)
  const { headers, candidates } = await readCandidates(reader, all, maxTransactions)
  const collector = createPaymentCollector(reader, headers.at(-1)?.ref.number ?? reader.to)
  const steps = splitIntoSteps(candidates)
  const ask = (step: number) => readBlockReceipts(reader, steps[step] ?? [], withTransactions)
  for await (const blocks of readAhead(steps.length, ask)) {
    await collector.add(blocks)
    await collector.readPayments()
  }
  return { range: toRange(reader, headers, collector.facts, 'bloom'), ...collector.counts }
}

/** Reads all blocks whole, without looking at the filters first: faster where most blocks contain payments. */
async function readDense(reader: RangeReader, transactionsPerBlock: number): Promise<CountedRange> {
  const { from, to } = reader
  const perStep = Math.max(1, Math.min(maxBlocksPerStep, Math.floor(transactionsPerStep / transactionsPerBlock)))
  const maxBlocks = Math.max(perStep, Math.floor(maxTransactions / transactionsPerBlock / perStep) * perStep)
  const end = Math.min(to, from + maxBlocks - 1)
  const headers: Header[] = []
  const collector = createPaymentCollector(reader, end)
  const steps = Math.ceil((end - from + 1) / perStep)
  const stepsPerChainIdCall = Math.max(1, Math.floor(headersPerStep / perStep))
  const ask = (step: number) => {
    const start = from + step * perStep
    const contents = { withTransactions: true, withChainId: step % stepsPerChainIdCall === 0 }
    return readBlocks(reader, start, Math.min(end, start + perStep - 1), contents)
  }
  const pickCandidates = (blocks: readonly BlockWithReceipts[]) =>
    blocks.filter(({ header }) => mayHoldPayment(reader, header))
  let transactions = 0
  const hasNext = (blocks: readonly BlockWithReceipts[]) => {
    for (const { header } of pickCandidates(blocks)) transactions += countTransactions(header)
    return transactions + perStep * transactionsPerBlock <= maxTransactions
  }
  for await (const blocks of readAhead(steps, ask, hasNext)) {
    headers.push(...blocks.map(({ header }) => header))
    assertChain(headers.slice(-blocks.length - 1), reader.fail)
    await collector.add(pickCandidates(blocks))
    await collector.readPayments()
  }
  return { range: toRange(reader, headers, collector.facts, 'bloom'), ...collector.counts }
}

/** Yields the answers of steps. Requests the next step before it yields, if `hasNext` allows it. */
async function* readAhead<T>(
  maxSteps: number,
  ask: (step: number) => Promise<T>,
  hasNext: (answer: T) => boolean = () => true,
): AsyncGenerator<T> {
  let next = maxSteps > 0 ? ask(0) : undefined
  for (let step = 1; next !== undefined; step += 1) {
    const answer: T = await next
    next = hasNext(answer) && step < maxSteps ? ask(step) : undefined
    // If the caller fails, this promise is never awaited.
    next?.catch(() => {})
    yield answer
  }
}

function splitIntoSteps(headers: readonly Header[]): readonly (readonly Header[])[] {
  const steps: Header[][] = []
  let size = 0
  for (const header of headers) {
    const step = steps.at(-1)
    const count = countTransactions(header)
    if (step === undefined || step.length === maxBlocksPerStep || size + count > transactionsPerStep) {
      steps.push([header])
      size = count
    } else {
      step.push(header)
      size += count
    }
  }
  return steps
}

/** The blocks that {@link readByRoot} reads at a time. */
const blocksPerRootStep = 8

/** Reads all blocks of the range with their receipts. @throws As {@link readByBloom}. */
export async function readByRoot(reader: RangeReader, withTransactions: boolean): Promise<CountedRange> {
  const { from, to } = reader
  const headers: Header[] = []
  const collector = createPaymentCollector(reader, to)
  for (let start = from; start <= to; start += blocksPerRootStep) {
    const end = Math.min(to, start + blocksPerRootStep - 1)
    const blocks = await readBlocks(reader, start, end, { withTransactions, withChainId: true })
    headers.push(...blocks.map(({ header }) => header))
    await collector.add(blocks)
  }
  assertChain(headers, reader.fail)
  await collector.readPayments()
  return { range: toRange(reader, headers, collector.facts, 'root'), ...collector.counts }
}
