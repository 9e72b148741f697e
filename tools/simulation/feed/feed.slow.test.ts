import { expect, test } from 'vitest'
import { natsMissing } from '../../../packages/chain-feed/test/nats-server.js'
import { describeFeed, runFeedSeed } from './run-feed.js'

/** It waits for five elections of the cluster. */
const seed = 1
const timeoutMs = 1_500_000

test.skipIf(natsMissing)(
  `seed ${seed}: servers of the feed are killed under load: 0 missing, 0 wrong, 0 repeated${natsMissing === null ? '' : ` (skipped: ${natsMissing})`}`,
  async () => {
    const report = await runFeedSeed(seed)
    process.stdout.write(`${describeFeed(report)}\n`)
    expect(report.verdict.findings.join('\n')).toBe('')
    expect(report.verdict).toMatchObject({ missing: 0, wrong: 0, repeated: 0 })
    // A run without events proves nothing.
    expect(report.kills).toBe(5)
    expect(report.reorgs).toBeGreaterThan(5)
    expect(report.verdict.payments).toBeGreaterThan(100)
    // Both sources were read.
    expect(report.feed).toBeGreaterThan(1_000)
    expect(report.node).toBeGreaterThan(100)
    expect(report.switches).toBeGreaterThan(4)
  },
  timeoutMs,
)
