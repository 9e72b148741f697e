import { expect, test } from 'vitest'
import { afterEnding, createHoldings, type SlotHolder } from './holdings.js'

const one = (notificationUrl: string, attempt = 1): SlotHolder => ({
  ...{ notificationUrl, integrationAddress: `0x${notificationUrl}`, attempt },
  ...{ replay: false, probe: false },
})
const of = (...holders: readonly SlotHolder[]) => {
  const holdings = createHoldings()
  for (const holder of holders) holdings.add(holder)
  return holdings
}
const plain = ({ all, again, byEndpoint, byIntegration }: ReturnType<typeof afterEnding>) => ({
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

test('of each endpoint as many end as are expected to, and none that is not posted', () => {
  const posting = of(one('a'), one('a'), one('b', 2), one('c'))
  const left = afterEnding({ inHand: posting, posting, ending: of(one('a'), one('b', 2), one('b', 2), one('d')) })
  expect(plain(left)).toEqual({
    ...{ all: 2, again: 0 },
    ...{ byEndpoint: { a: 1, c: 1 }, byIntegration: { '0xa': 1, '0xc': 1 } },
  })
})

test('what waits is in hand but takes no slot, and is ahead of what is claimed for those that end', () => {
  const posting = of(one('a'), one('a'), one('a'), one('b'))
  const inHand = of(one('a'), one('a'), one('a'), one('b'), one('a'), one('b'))
  const left = afterEnding({ inHand, posting, ending: of(one('a'), one('a'), one('a')) })
  expect(plain(left)).toEqual({
    ...{ all: 3, again: 0 },
    ...{ byEndpoint: { a: 2, b: 2 }, byIntegration: { '0xa': 2, '0xb': 2 } },
  })
})
