/** Metrics of each chain and its nodes, read at each scrape. @module */
import type { ChainStatus } from '@payment-integration/core'
import type { NodeStatus, ProofLevel } from '@payment-integration/core/ports'
import type { Registry } from 'prom-client'
import { computeLag } from '../app/health.js'
import { type MetricsLibrary, prefix } from './metrics.js'

interface Reading<Of> {
  readonly name: string
  readonly help: string
  /** Null: no value yet, so the metric is left out. */
  value(of: Of): number | null
}

/** Calls that a price is for. */
const pricedCalls = 1_000_000

const levels: readonly ProofLevel[] = ['root', 'bloom', 'none']

const chainGauges: readonly Reading<ChainStatus>[] = [
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
]

const nodeGauges: readonly Reading<NodeStatus>[] = [
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
]

const nodeCounters: readonly Reading<NodeStatus>[] = [
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
  const registers = [registry]
  for (const { name, help, value } of chainGauges)
    new Gauge({
      name: `${prefix}${name}`,
      help,
      labelNames: ['chain'],
      registers,
      collect() {
        this.reset()
        for (const status of read()) {
          const reading = value(status)
          if (reading !== null) this.set({ chain: status.chainId }, reading)
        }
      },
    })
  new Gauge({
    name: `${prefix}chain_proof`,
    help: 'How the newest blocks were proven: 1 at the level, 0 at the others.',
    labelNames: ['chain', 'level'],
    registers,
    collect() {
      this.reset()
      for (const { chainId, proof } of read())
        if (proof !== null) for (const level of levels) this.set({ chain: chainId, level }, Number(level === proof))
    },
  })
  new Counter({
    name: `${prefix}chain_reorganisations_total`,
    help: 'Reorganisations that were applied since the start of the process.',
    labelNames: ['chain'],
    registers,
    collect() {
      this.reset()
      for (const { chainId, reorganisations } of read()) this.inc({ chain: chainId }, reorganisations)
    },
  })
  for (const { name, help, value } of nodeGauges)
    new Gauge({
      name: `${prefix}${name}`,
      help,
      labelNames: ['chain', 'node'],
      registers,
      collect() {
        this.reset()
        forEachNode(read(), value, (labels, reading) => this.set(labels, reading))
      },
    })
  for (const { name, help, value } of nodeCounters)
    new Counter({
      name: `${prefix}${name}`,
      help,
      labelNames: ['chain', 'node'],
      registers,
      collect() {
        this.reset()
        forEachNode(read(), value, (labels, reading) => this.inc(labels, reading))
      },
    })
  new Counter({
    name: `${prefix}node_cost_total`,
    help: 'Price of the calls sent, in the currency of PI_RPC_PRICE.',
    labelNames: ['chain', 'node'],
    registers,
    collect() {
      this.reset()
      for (const { chainId, nodes } of read()) {
        const price = callPrices.get(chainId)
        if (price === undefined) continue
        for (const { name, calls } of nodes) this.inc({ chain: chainId, node: name }, (calls * price) / pricedCalls)
      }
    },
  })
}

function forEachNode(
  statuses: readonly ChainStatus[],
  value: Reading<NodeStatus>['value'],
  record: (labels: { chain: number; node: string }, reading: number) => void,
): void {
  for (const { chainId, nodes } of statuses)
    for (const node of nodes) {
      const reading = value(node)
      if (reading !== null) record({ chain: chainId, node: node.name }, reading)
    }
}
