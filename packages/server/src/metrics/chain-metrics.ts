/** Metrics of each chain and its nodes, read at each scrape. @module */
import type { ChainStatus } from '@payment-integration/core'
import type { NodeStatus, ProofLevel } from '@payment-integration/core/ports'
import type { Registry } from 'prom-client'
import { computeLag } from '../app/health.js'
import { type MetricsLibrary, prefix, toSeconds } from './metrics.js'

/**
 * A metric: a counter where the name ends in `_total`, else a gauge. A value of null: none yet, so the metric is left
 * out.
 */
type Reading<Of> = readonly [name: string, help: string, read: (of: Of) => number | null]

/** The number of calls that a price covers. */
const pricedCalls = 1_000_000

const proofLevels: readonly ProofLevel[] = ['root', 'bloom', 'none']

const chainReadings: readonly Reading<ChainStatus>[] = [
  ['chain_head_block', 'Newest height seen.', ({ head }) => head],
  ['chain_head_timestamp_seconds', 'Time of the newest block seen, by its header.', ({ headAt }) => toSeconds(headAt)],
  ['chain_indexed_block', 'Highest height whose payments are stored.', ({ indexed }) => indexed],
  ['chain_lag_blocks', 'Blocks between head and indexed height.', computeLag],
  ['chain_leading', 'Whether this process is the one that indexes the chain.', ({ leading }) => Number(leading)],
  ['chain_failing', 'Whether the last round of the chain failed.', ({ error }) => Number(error !== null)],
  [
    'chain_last_error_timestamp_seconds',
    'When the newest error of the chain happened.',
    ({ lastError }) => toSeconds(lastError?.at ?? null),
  ],
  ['chain_reorgs_total', 'Reorgs that were applied since the start of the process.', ({ reorgs }) => reorgs],
]

const nodeReadings: readonly Reading<NodeStatus>[] = [
  ['node_score', '0 (not used while another works) to 1.', ({ score }) => score],
  ['node_in_use', 'Whether the next read goes to it.', ({ inUse }) => Number(inUse)],
  ['node_head_block', 'Newest height it reported.', ({ head }) => head],
  ['node_latency_seconds', 'Moving average of its answers.', ({ latencyMs }) => toSeconds(latencyMs)],
  ['node_max_range_blocks', 'Most blocks that one request for logs spans now.', ({ maxRange }) => maxRange],
  ['node_failures_total', 'Requests without an answer.', ({ failures }) => failures],
  [
    'node_contradictions_total',
    'Answers that contradict themselves or the chain.',
    ({ contradictions }) => contradictions,
  ],
  [
    'node_failed_proofs_total',
    'Blocks whose receipts or logs do not match their header.',
    ({ failedProofs }) => failedProofs,
  ],
  ['node_calls_total', 'JSON-RPC calls sent, repeated ones included.', ({ calls }) => calls],
  ['node_received_bytes_total', 'Bytes of its answers, unpacked.', ({ receivedBytes }) => receivedBytes],
  ['node_blocks_total', 'Blocks read from it.', ({ blocks }) => blocks],
]

/** Null: no value yet, so the sample is left out. */
type Sample = readonly [labels: Readonly<Record<string, string | number>>, value: number | null]

/**
 * Adds the metrics to a registry. Each scrape calls `readStatuses` once per metric.
 * @param callPrices - Price of a million calls by chain id.
 */
export function addChainMetrics(
  { Counter, Gauge }: MetricsLibrary,
  registry: Registry,
  readStatuses: () => readonly ChainStatus[],
  callPrices: ReadonlyMap<number, number>,
): void {
  function add(
    name: string,
    help: string,
    labelNames: readonly string[],
    listSamples: (status: ChainStatus) => readonly Sample[],
  ): void {
    const options = {
      name: `${prefix}${name}`,
      help,
      labelNames,
      registers: [registry],
      collect(this: { reset(): void; inc(labels: Sample[0], value: number): void }) {
        // After a reset, inc sets the value, in a gauge as in a counter.
        this.reset()
        for (const [labels, value] of readStatuses().flatMap(listSamples)) if (value !== null) this.inc(labels, value)
      },
    }
    if (name.endsWith('_total')) new Counter<string>(options)
    else new Gauge<string>(options)
  }

  for (const [name, help, read] of chainReadings)
    add(name, help, ['chain'], (status) => [[{ chain: status.chainId }, read(status)]])
  const proofHelp = 'How the newest blocks were proven: 1 at the level, 0 at the others.'
  add('chain_proof', proofHelp, ['chain', 'level'], ({ chainId, proof }) =>
    proofLevels.map((level) => [{ chain: chainId, level }, proof === null ? null : Number(level === proof)]),
  )
  for (const [name, help, read] of nodeReadings)
    add(name, help, ['chain', 'node'], ({ chainId, nodes }) =>
      nodes.map((node) => [{ chain: chainId, node: node.name }, read(node)]),
    )
  const costHelp = 'Price of the calls sent, in the currency of PI_RPC_PRICE.'
  add('node_cost_total', costHelp, ['chain', 'node'], ({ chainId, nodes }) => {
    const price = callPrices.get(chainId)
    if (price === undefined) return []
    return nodes.map(({ name, calls }) => [{ chain: chainId, node: name }, (calls * price) / pricedCalls])
  })
}
