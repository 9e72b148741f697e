import { toHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { makeAddresses, makeCodeHash } from '../../test/router-logs.js'
import { loadKeccak } from '../proof/keccak.js'
import { type DirectPayment, type Emitted, noConversion, pairConversions } from './pair-conversions.js'
import type { ConversionStep, DecodedConversion, DecodedPayment, RouterCall } from './router-decoder.js'

await loadKeccak()

const [router, other, feedA, feedB, address] = makeAddresses('f1', 'f2', 'a1', 'b2', 'c3')
const memoHex = `0x${'00'.repeat(32)}`

const payment = (gross: bigint): DecodedPayment => ({
  ...{ kind: 'payment', sender: address, receiver: address, token: address, memoHex, provedBy: 'event' },
  ...{ gross, net: gross },
})
const first = payment(1n)
const second = payment(2n)
const step = (contract: string, use: ConversionStep['use'] = 'multiply', rate = 5n): ConversionStep => ({
  use,
  contract,
  codeHash: null,
  rate,
})
const forged = (...steps: ConversionStep[]): DecodedConversion => ({ kind: 'conversion', steps, isForgeable: true })
const genuine = (...steps: ConversionStep[]): DecodedConversion => ({ kind: 'conversion', steps, isForgeable: false })
const by = (who: string, ...events: Emitted['event'][]): Emitted[] => events.map((event) => ({ router: who, event }))

const call: RouterCall = {
  ...{ sender: null, receiver: address, token: address, memoHex, amount: 1n },
  ...{ feeds: [null, null], extraFee: null, convenienceFeeBps: 0n, swap: null },
}
const direct = (feeds: RouterCall['feeds']): DirectPayment => ({ router, call: { ...call, feeds }, payment: first })
const isOnly = { contract: feedA }
/** The feeds that a payment has, and what shows them. */
function paid(emitted: readonly Emitted[], made: DecodedPayment, by: DirectPayment | null = null) {
  const { steps, provedBy } = pairConversions(emitted, by).get(made) ?? noConversion
  return [provedBy, ...steps.map(({ use, contract, rate }) => `${use} ${contract} ${rate}`)]
}

describe('a payment that no direct call made', () => {
  test('has the conversion that its router emitted since its previous payment', () => {
    const emitted = by(router, genuine(step(feedA)), first, genuine(step(feedB)), second)
    expect(paid(emitted, first)).toEqual(['router', `multiply ${feedA} 5`])
    expect(paid(emitted, second)).toEqual(['router', `multiply ${feedB} 5`])
  })

  test('has none when the previous payment took it, and none that comes after it', () => {
    const emitted = by(router, genuine(step(feedA)), first, second, genuine(step(feedB)))
    expect(paid(emitted, second)).toEqual(['router'])
  })

  test('has none of another router, also when they alternate', () => {
    const emitted = [
      ...by(router, genuine(step(feedA))),
      ...by(other, genuine(step(feedB)), second),
      ...by(router, first),
    ]
    expect(paid(emitted, first)).toEqual(['router', `multiply ${feedA} 5`])
    expect(paid(emitted, second)).toEqual(['router', `multiply ${feedB} 5`])
  })

  test('has the nearest of several, without proof if it can be forged', () => {
    const emitted = by(router, forged(step(feedA)), forged(step(feedB)), first)
    expect(paid(emitted, first)).toEqual(['nothing', `multiply ${feedB} 5`])
  })

  test('has two steps when two events in a row name a feed each and no use', () => {
    const events = [genuine(step(feedA, 'unknown')), genuine(step(feedB, 'unknown', 7n))]
    expect(paid(by(router, ...events, first), first)).toEqual(['router', `multiply ${feedA} 5`, `divide ${feedB} 7`])
    expect(paid(by(router, genuine(step(feedA)), genuine(step(feedB, 'unknown')), first), first)).toEqual([
      'router',
      `unknown ${feedB} 5`,
    ])
  })

  test('has none if the nearest is malformed', () => {
    expect(paid(by(router, forged(step(feedA)), forged(), first), first)).toEqual(['nothing'])
  })
})

describe('a payment that a direct call made', () => {
  test('has the conversion that repeats the feeds of the call', () => {
    const emitted = by(router, forged(step(feedA)), first)
    expect(paid(emitted, first, direct([isOnly, null]))).toEqual(['call', `multiply ${feedA} 5`])
    expect(paid(by(router, genuine(step(feedA)), first), first, direct([isOnly, null]))[0]).toBe('router')
  })

  test('has its own conversion when other payments were made before it ended, and they have theirs', () => {
    const emitted = by(router, genuine(step(feedA)), genuine(step(feedB)), second, first)
    const payment = direct([isOnly, null])
    expect(paid(emitted, first, payment)).toEqual(['router', `multiply ${feedA} 5`])
    expect(paid(emitted, second, payment)).toEqual(['router', `multiply ${feedB} 5`])
    expect(paid(by(router, genuine(step(feedA)), second, first), second, payment)).toEqual(['router'])
  })

  test('has none when the call names none, whatever is emitted', () => {
    expect(paid(by(router, forged(step(feedA)), first), first, direct([null, null]))).toEqual(['router'])
  })

  test('gets the use of its feed from the call', () => {
    const emitted = by(router, genuine(step(feedA, 'unknown')), first)
    expect(paid(emitted, first, direct([isOnly, null]))).toEqual(['router', `multiply ${feedA} 5`])
    expect(paid(emitted, first, direct([null, isOnly]))).toEqual(['router', `divide ${feedA} 5`])
    const two = by(router, genuine(step(feedA, 'unknown')), genuine(step(feedB, 'unknown')), first)
    expect(paid(two, first, direct([isOnly, { contract: feedB }]))).toEqual([
      'router',
      `multiply ${feedA} 5`,
      `divide ${feedB} 5`,
    ])
  })

  test.each([
    ['is of another feed', [forged(step(feedB))]],
    ['is used the other way', [forged(step(feedA, 'divide'))]],
    ['has a feed more', [forged(step(feedA), step(feedB, 'divide'))]],
    ['comes second', [forged(step(feedB)), forged(step(feedA))]],
    ['comes behind one that cannot be read', [forged(), forged(step(feedA))]],
  ])('is shown nothing by a conversion that %s', (_, events) => {
    expect(paid(by(router, ...events, first), first, direct([isOnly, null]))[0]).toBe('nothing')
  })

  test('has no proof in the conversion of another router, or if the feeds of the call are ambiguous', () => {
    const elsewhere = [...by(other, forged(step(feedA))), ...by(router, first)]
    expect(paid(elsewhere, first, direct([isOnly, null]))).toEqual(['router'])
    expect(paid(by(router, forged(step(feedA)), first), first, direct(null))[0]).toBe('nothing')
  })

  const external = (code: string, rate: bigint) =>
    forged({ use: 'multiply', contract: null, codeHash: makeCodeHash(code), rate })
  const signed = { contract: null, codeHex: toHex('CHF'), rate: 12n } as const
  test('has a signed rate when code and rate are those of the call', () => {
    const emitted = by(router, external('CHF', 12n), first)
    const { steps, provedBy } = pairConversions(emitted, direct([signed, null])).get(first) ?? noConversion
    expect([provedBy, steps[0]?.codeHex]).toEqual(['call', toHex('CHF')])
    for (const wrong of [external('CHF', 13n), external('EUR', 12n), forged(step(feedA))])
      expect(paid(by(router, wrong, first), first, direct([signed, null]))[0]).toBe('nothing')
  })
})
