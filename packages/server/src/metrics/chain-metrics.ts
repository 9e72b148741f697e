/** Metrics of each chain and its endpoints, read at each scrape. @module */
import type { ChainStatus } from '@payment-integration/core'
import type { EndpointStatus, ProofLevel } from '@payment-integration/core/ports'
import type { Registry } from 'prom-client'
import { lagOf } from '../app/health.js'
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
  { name: 'chain_lag_blocks', help: 'Blocks between head and indexed height.', value: lagOf },
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

const endpointGauges: readonly Reading<EndpointStatus>[] = [
  { name: 'endpoint_score', help: '0 (not used while another works) to 1.', value: ({ score }) => score },
  { name: 'endpoint_in_use', help: 'Whether the next read goes to it.', value: ({ inUse }) => Number(inUse) },
  { name: 'endpoint_head_block', help: 'Newest height it reported.', value: ({ head }) => head },
  {
    name: 'endpoint_latency_seconds',
    help: 'Moving average of its answers.',
    value: ({ latencyMs }) => (latencyMs === null ? null : latencyMs / 1_000),
  },
  {
    name: 'endpoint_max_range_blocks',
    help: 'Most blocks that one request for logs spans now.',
    value: ({ maxRange }) => maxRange,
  },
]

const endpointCounters: readonly Reading<EndpointStatus>[] = [
  { name: 'endpoint_failures_total', help: 'Requests without an answer.', value: ({ failures }) => failures },
  {
    name: 'endpoint_contradictions_total',
    help: 'Answers that contradict themselves or the chain.',
    value: ({ contradictions }) => contradictions,
  },
  {
    name: 'endpoint_failed_proofs_total',
    help: 'Blocks whose receipts or logs do not match their header.',
    value: ({ failedProofs }) => failedProofs,
  },
  { name: 'endpoint_calls_total', help: 'JSON-RPC calls sent, repeated ones included.', value: ({ calls }) => calls },
  {
    name: 'endpoint_received_bytes_total',
    help: 'Bytes of its answers, unpacked.',
    value: ({ receivedBytes }) => receivedBytes,
  },
  { name: 'endpoint_blocks_total', help: 'Blocks read from it.', value: ({ blocks }) => blocks },
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
  for (const { name, help, value } of endpointGauges)
    new Gauge({
      name: `${prefix}${name}`,
      help,
      labelNames: ['chain', 'endpoint'],
      registers,
      collect() {
        this.reset()
        eachEndpoint(read(), value, (labels, reading) => this.set(labels, reading))
      },
    })
  for (const { name, help, value } of endpointCounters)
    new Counter({
      name: `${prefix}${name}`,
      help,
      labelNames: ['chain', 'endpoint'],
      registers,
      collect() {
        this.reset()
        eachEndpoint(read(), value, (labels, reading) => this.inc(labels, reading))
      },
    })
  new Counter({
    name: `${prefix}endpoint_cost_total`,
    help: 'Price of the calls sent, in the currency of PI_RPC_PRICE.',
    labelNames: ['chain', 'endpoint'],
    registers,
    collect() {
      this.reset()
      for (const { chainId, endpoints } of read()) {
        const price = callPrices.get(chainId)
        if (price === undefined) continue
        for (const { name, calls } of endpoints)
          this.inc({ chain: chainId, endpoint: name }, (calls * price) / pricedCalls)
      }
    },
  })
}

function eachEndpoint(
  statuses: readonly ChainStatus[],
  value: Reading<EndpointStatus>['value'],
  note: (labels: { chain: number; endpoint: string }, reading: number) => void,
): void {
  for (const { chainId, endpoints } of statuses)
    for (const endpoint of endpoints) {
      const reading = value(endpoint)
      if (reading !== null) note({ chain: chainId, endpoint: endpoint.name }, reading)
    }
}
