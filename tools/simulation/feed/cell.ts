/** A cell: a deployment with a store of its own, which reads the feed and falls back to its node. @module */
import { createFeedChain, createFeedConnection } from '@payment-integration/chain-feed'
import { createService, systemClock } from '@payment-integration/core'
import type { Chain } from '@payment-integration/core/ports'
import { simulatedMasterKey } from '../world/master-key.js'
import { openStore } from '../world/stores.js'

/** Options of a cell. */
export interface CellOptions {
  readonly servers: readonly string[]
  /** The chain on the cell's own node. */
  readonly node: Chain
  readonly finalityBlocks: number
}

/** Below real deployments, so that a seed sees many changes between feed and node. */
const timing = { maxHeadAgeMs: 5_000, restMs: 500, pollMs: 50 }

/** Starts a cell. */
export async function startCell({ servers, node, finalityBlocks }: CellOptions) {
  const { store, close } = await openStore('sqlite', systemClock)
  const connection = createFeedConnection({ servers })
  const chain = createFeedChain({ chain: node, connection, ...timing })
  const read = { feed: 0, node: 0, switches: 0 }
  let isOnFeed = false
  const counting: Chain = {
    ...chain,
    async *ranges(request, signal) {
      for await (const range of chain.ranges(request, signal)) {
        const source = range.endpoint.startsWith('feed') ? 'feed' : 'node'
        read[source] += range.blocks.length
        yield range
      }
    },
    async head(signal) {
      const head = await chain.head(signal)
      const isNow = chain.endpoints()[0]?.inUse === true
      if (isNow !== isOnFeed) read.switches += 1
      isOnFeed = isNow
      return head
    },
  }
  const service = createService({
    store,
    sender: { post: () => new Promise(() => undefined) },
    masterKey: simulatedMasterKey,
    chains: [{ chain: counting, startBlock: 0, pollMs: timing.pollMs }],
    confirmations: { [node.chainId]: finalityBlocks },
  })
  const controller = new AbortController()
  const running = Promise.all(service.indexers.map((indexer) => indexer.run(controller.signal)))
  return {
    store,
    read,
    indexed: async () => (await store.payments.checkpoint(node.chainId)) ?? null,
    lastError: () => service.indexers[0]?.status().lastError?.message ?? null,
    async stop() {
      controller.abort()
      await running
      await connection.close()
      await close()
    },
  }
}

/** A running cell. */
export type Cell = Awaited<ReturnType<typeof startCell>>
