/** Status of a healthy chain and node. */
import type { ChainStatus } from '@payment-integration/core'
import type { NodeStatus } from '@payment-integration/core/ports'

export function chainStatus(changes: Partial<ChainStatus> = {}): ChainStatus {
  return {
    chainId: 1,
    head: 10,
    headAt: Date.UTC(2026, 0, 1),
    indexed: 10,
    proof: 'root',
    reorgs: 0,
    newestReorgs: [],
    leading: true,
    nodes: [],
    error: null,
    lastError: null,
    ...changes,
  }
}

export function nodeStatus(changes: Partial<NodeStatus> = {}): NodeStatus {
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
