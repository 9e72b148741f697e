/** Status of a healthy chain and endpoint. */
import type { ChainStatus } from '@payment-integration/core'
import type { EndpointStatus } from '@payment-integration/core/ports'

export function chainStatus(changes: Partial<ChainStatus> = {}): ChainStatus {
  return {
    chainId: 1,
    head: 10,
    headAt: Date.UTC(2026, 0, 1),
    indexed: 10,
    proof: 'root',
    reorganisations: 0,
    newestReorganisations: [],
    leading: true,
    endpoints: [],
    error: null,
    lastError: null,
    ...changes,
  }
}

export function endpointStatus(changes: Partial<EndpointStatus> = {}): EndpointStatus {
  return {
    name: 'node.example #1',
    score: 1,
    inUse: true,
    head: 10,
    latencyMs: 12,
    failures: 0,
    contradictions: 0,
    failedProofs: 0,
    calls: 0,
    receivedBytes: 0,
    blocks: 0,
    maxRange: 2_000,
    lastError: null,
    ...changes,
  }
}
