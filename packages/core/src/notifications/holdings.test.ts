import { expect, test } from 'vitest'
import { createHoldings, type HoldingCounts, type SlotHolder } from './holdings.js'

const one = (notificationUrl: string, attempt = 1): SlotHolder => ({
  ...{ notificationUrl, integrationAddress: `0x${notificationUrl}`, attempt },
  ...{ replay: false, probe: false },
})
const of = (...holders: readonly SlotHolder[]) => {
  const holdings = createHoldings()
  for (const holder of holders) holdings.add(holder)
  return holdings
}
const plain = ({ all, again, byEndpoint, byIntegration }: HoldingCounts) => ({
  ...{ all, again },
  ...{ byEndpoint: Object.fromEntries(byEndpoint), byIntegration: Object.fromEntries(byIntegration) },
})

test('counts come and go, and what is 0 is not there', () => {
  const holdings = of(one('a'), one('a', 2), one('b'))
  holdings.remove(one('a', 2))
  holdings.remove(one('b'))
  expect(plain(holdings)).toEqual({ all: 1, again: 0, byEndpoint: { a: 1 }, byIntegration: { '0xa': 1 } })
})

test('a copy changes by itself', () => {
  const before = of(one('a'))
  const copy = createHoldings(before)
  copy.add(one('a'))
  expect([before.all, before.byEndpoint.get('a'), copy.all, copy.byEndpoint.get('a')]).toEqual([1, 1, 2, 2])
})
