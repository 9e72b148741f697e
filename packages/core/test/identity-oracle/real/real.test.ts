import { expect, test } from 'vitest'
import { firstFinding, report, seedsAsked } from '../first-finding.js'
import { realSystem } from './real-system.js'

/** All where `CI` is set; some elsewhere, so that `npm test` stays short. */
const count = process.env['CI'] === undefined ? 40 : 300

test('the use cases on a store in memory keep every promise', { timeout: 600_000 }, async () => {
  const finding = await firstFinding(seedsAsked(count), () => realSystem())
  expect(finding && report(finding)).toBeNull()
})
