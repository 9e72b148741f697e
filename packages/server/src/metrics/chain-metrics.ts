/** Metrics of each chain and its nodes, read at each scrape. @module */
import type { ChainStatus } from '@payment-integration/core'
import type { NodeStatus, ProofLevel } from '@payment-integration/core/ports'
import type { Registry } from 'prom-client'
import { computeLag } from '../app/health.js'
import { type MetricsLibrary, prefix } from './metrics.js'

interface Reading<Of> {
  /** A counter ends in `_total`; any other metric is a gauge. */
  readonly name: string
  readonly help: string
  /** Null: no value yet, so the metric is left out. */
  value(of: Of): number | null
}

/** The number of calls that a price covers. */
const pricedCalls = 1_000_000

const levels: readonly ProofLevel[] = ['root', 'bloom', 'none']

const chainReadings: readonly Reading<ChainStatus>[] = [
  { name: 'chain_head_block', help: 'Newest height seen.', value: ({ head }) => head },
  {
    name: 'chain_head_timestamp_seconds',
    help: 'Time of the newest block seen, by its header.',
    value: ({ headAt }) => (headAt === null ? null : headAt / 1_000),
  },
  { name: 'chain_indexed_block', help: 'Highest height whose payments are stored.', value: ({ indexed }) => indexed },
  { name: 'chain_lag_blocks', help: 'Blocks between head and indexed height.', value: computeLag },
  {
    name: 'chain_leading',
    help: 'Whether this process is the one that indexes the chain.',
    value: ({ leading }) => Number(leading),
  },
  {
    name: 'chain_failing',
    help: 'Whether the last round of the chain failed.',
    value: ({ error }) => Number(error !== null),
  },
  {
    name: 'chain_last_error_timestamp_seconds',
    help: 'When the newest error of the chain happened.',
    value: ({ lastError }) => (lastError === null ? null : lastError.at / 1_000),
  },
  {
    name: 'chain_reorgs_total',
    help: 'Reorgs that were applied since the start of the process.',
    value: ({ reorgs }) => reorgs,
  },
]

const nodeReadings: readonly Reading<NodeStatus>[] = [
  { name: 'node_score', help: '0 (not used while another works) to 1.', value: ({ score }) => score },
  { name: 'node_in_use', help: 'Whether the next read goes to it.', value: ({ inUse }) => Number(inUse) },
  { name: 'node_head_block', help: 'Newest height it reported.', value: ({ head }) => head },
  {
    name: 'node_latency_seconds',
    help: 'Moving average of its answers.',
    value: ({ latencyMs }) => (latencyMs === null ? null : latencyMs / 1_000),
  },
  {
    name: 'node_max_range_blocks',
    help: 'Most blocks that one request for logs spans now.',
    value: ({ maxRange }) => maxRange,
  },
  { name: 'node_failures_total', help: 'Requests without an answer.', value: ({ failures }) => failures },
  {
    name: 'node_contradictions_total',
    help: 'Answers that contradict themselves or the chain.',
    value: ({ contradictions }) => contradictions,
  },
  {
    name: 'node_failed_proofs_total',
    help: 'Blocks whose receipts or logs do not match their header.',
    value: ({ failedProofs }) => failedProofs,
  },
  { name: 'node_calls_total', help: 'JSON-RPC calls sent, repeated ones included.', value: ({ calls }) => calls },
  {
    name: 'node_received_bytes_total',
    help: 'Bytes of its answers, unpacked.',
    value: ({ receivedBytes }) => receivedBytes,
  },
  { name: 'node_blocks_total', help: 'Blocks read from it.', value: ({ blocks }) => blocks },
]

/** Null: no value yet, so the sample is left out. */
type Sample = readonly [labels: Readonly<Record<string, string | number>>, value: number | null]

/**
 * Adds the metrics to a registry. Each scrape calls `read` once per metric.
 * @param callPrices - Price of a million calls by chain id.
 */
export function addChainMetrics(
  { Counter, Gauge }: MetricsLibrary,
  registry: Registry,
  read: () => readonly ChainStatus[],
  callPrices: ReadonlyMap<number, number>,
): void {
  function add(
    { name, help }: Pick<Reading<never>, 'name' | 'help'>,
    labelNames: readonly string[],
    listSamples: (status: ChainStatus) => readonly Sample[],
  ): void {
    const options = {
      name: `${prefix}${name}`,
      help,
      labelNames,
      registers: [registry],
      collect(this: { reset(): void; inc(labels: Sample[0], value: number): void }) {
        this.reset()
        for (const [labels, value] of read().flatMap(listSamples)) if (value !== null) this.inc(labels, value)
      },
    }
    if (name.endsWith('_total')) new Counter<string>(options)
    else new Gauge<string>(options)
  }

  for (const reading of chainReadings)
    add(reading, ['chain'], (status) => [[{ chain: status.chainId }, reading.value(status)]])
  const proofHelp = 'How the newest blocks were proven: 1 at the level, 0 at the others.'
  add({ name: 'chain_proof', help: proofHelp }, ['chain', 'level'], ({ chainId, proof }) =>
    levels.map((level) => [{ chain: chainId, level }, proof === null ? null : Number(level === proof)]),
  )
  for (const reading of nodeReadings)
    add(reading, ['chain', 'node'], ({ chainId, nodes }) =>
      nodes.map((node) => [{ chain: chainId, node: node.name }, reading.value(node)]),
    )
  const costHelp = 'Price of the calls sent, in the currency of PI_RPC_PRICE.'
  add({ name: 'node_cost_total', help: costHelp }, ['chain', 'node'], ({ chainId, nodes }) => {
    const price = callPrices.get(chainId)
    if (price === undefined) return []
    return nodes.map(({ name, calls }) => [{ chain: chainId, node: name }, (calls * price) / pricedCalls])
  })
}
