import { expect, test } from 'vitest'
import { firstFinding, report, seedsAsked } from './first-finding.js'
import { queued } from './reference/queued.js'
import { referenceSystem } from './reference/system.js'

test('a system written from the text alone keeps every promise', async () => {
  const finding = await firstFinding(seedsAsked(60), () => referenceSystem())
  expect(finding && report(finding)).toBeNull()
})

test('several commits between two views are explained', async () => {
  const finding = await firstFinding(seedsAsked(30), () => queued(referenceSystem()))
  expect(finding && report(finding)).toBeNull()
})
