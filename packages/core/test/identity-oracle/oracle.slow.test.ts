import { expect, test } from 'vitest'
import { firstFinding, report, seedsAsked } from './first-finding.js'
import { queued } from './reference/queued.js'
import { referenceSystem } from './reference/system.js'

test('a reference system, written from the interface text alone, breaks no rule', async () => {
  const finding = await firstFinding(seedsAsked(60), () => referenceSystem())
  expect(finding && report(finding)).toBeNull()
})

test('the oracle explains several commits between two of its views', async () => {
  const finding = await firstFinding(seedsAsked(30), () => queued(referenceSystem()))
  expect(finding && report(finding)).toBeNull()
})
