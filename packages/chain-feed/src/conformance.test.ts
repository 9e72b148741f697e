/** The suite of core on the feed: every answer but the fate of a transaction comes from a real server. */
import { chainConformance } from '@payment-integration/testing/conformance'
import { describe, expect, test } from 'vitest'
import { openFeedWorld } from '../test/feed-world.js'
import { natsMissing } from '../test/nats-server.js'

describe.skipIf(natsMissing)(`on nats-server${natsMissing === null ? '' : ` (skipped: ${natsMissing})`}`, () => {
  let requests: readonly unknown[] = []
  chainConformance('chain-feed', async () => {
    const world = await openFeedWorld()
    await world.publish()
    const { chain, calls } = world.openReader()
    return {
      chain,
      async mine(payments) {
        world.mine(payments)
        await world.publish()
      },
      async replaceNewest() {
        world.twin.orphan(1)
        world.twin.mine()
        await world.publish()
      },
      async close() {
        requests = [calls.head, calls.block, calls.ranges.filter((range) => Number.parseInt(range, 10) < 1_000)]
        await world.close()
        await world.nats.remove()
      },
    }
  })

  test('the suite asked the nodes for nothing that the feed has', () => {
    // Two heights above the head were asked for: a block far above it, and a range.
    expect(requests).toEqual([0, 1, []])
  })
})
