/** Stray, forged, foreign and malformed events on a real chain are no payment and no conversion. */
import { type Address, type Hex, pad, toEventSelector } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type ConversionChain,
  chfUsd,
  convert,
  emits,
  eurUsd,
  feedArgument,
  openConversionChain,
  payment,
  receiver,
  usdcUsd,
} from '../../test/conversion-chain.js'
import { type EmittedLog, eventLog, zeroAddress } from '../../test/router-logs.js'
import { payer } from '../../test/test-chain.js'

let chain: ConversionChain

beforeAll(async () => {
  chain = await openConversionChain()
})
afterAll(() => chain?.close())

describe('a forged conversion', () => {
  const cheap = eventLog('0.8', 'Convert', {
    ...{ priceFeed0: chfUsd, priceFeed1: zeroAddress, exchangeRate0: 1n, exchangeRate1: 0n },
  })

  test('in front of a payment without one gives it no currency', async () => {
    const { blockNumber } = await chain.batch([chain.routerA, emits(cheap)], [chain.routerA, emits(payment('0.8', 1n))])
    const [paid] = await chain.read(blockNumber, '0.8')
    expect(paid?.pricing).toMatchObject({ feeds: [{ contract: chfUsd, pair: null }], calledAmount: null })
  })

  test('behind a malformed one, with the feeds of the call, gives it no currency', async () => {
    const unreadable = eventLog('0.8', 'Convert', {
      ...{ priceFeed0: eurUsd, priceFeed1: usdcUsd, exchangeRate0: 50_000_000n, exchangeRate1: 0n },
    })
    const given = { amount: 1_000n, priceFeeds: feedArgument('0.8', null, usdcUsd) }
    const forged = eventLog('0.8', 'Convert', {
      ...{ priceFeed0: zeroAddress, priceFeed1: usdcUsd, exchangeRate0: 50_000_000n, exchangeRate1: 0n },
    })
    const height = await chain.payDirectly('0.8', given, unreadable, forged, payment('0.8', 2_000n))
    expect((await chain.read(height, '0.8'))[0]?.pricing).toMatchObject({ feeds: [{ pair: null }], calledAmount: null })
    expect(chain.quarantined.map(({ reason }) => reason)).toEqual(['an exchange rate is not above 0'])
  })
})

describe('nothing is indexed', () => {
  test('of conversions that no payment follows, and their transaction is not read', async () => {
    const { blockNumber } = await chain.node.execute({ to: chain.routerA, data: emits(convert('0.8', chfUsd, null)) })
    const before = chain.front.requests.length
    expect(await chain.read(blockNumber, '0.8')).toEqual([])
    expect(chain.front.requests.slice(before).flat()).not.toContain('eth_getTransactionByHash')
    expect(chain.quarantined).toEqual([])
  })

  test('of the topics of a router by another contract', async () => {
    for (const version of ['0.1', '0.8']) {
      const { blockNumber } = await chain.node.execute({
        to: chain.routerB,
        data: emits(convert(version, chfUsd, null), payment(version, 1n)),
      })
      expect(await chain.read(blockNumber, version)).toEqual([])
      expect(chain.quarantined).toEqual([])
    }
  })

  test.each([
    ['0.8', '0.1'],
    ['0.2', '0.3'],
  ])('of a router of version %s with the events of version %s', async (version, foreign) => {
    const data = emits(convert(foreign, chfUsd, null), payment(foreign, 1n))
    const { blockNumber } = await chain.node.execute({ to: chain.routerA, data })
    expect(await chain.read(blockNumber, version)).toEqual([])
    expect(chain.quarantined).toHaveLength(2)
    expect(chain.quarantined[0]?.reason).toContain(`version ${version} has no event`)
  })

  test('of transfers that a listed router was made to do, as in the exploit of August 2024', async () => {
    const word = (address: Address) => pad(address, { size: 32 })
    const transfer = (from: Address, to: Address): EmittedLog => ({
      topics: [toEventSelector('Transfer(address,address,uint256)'), word(from), word(to)],
      data: pad('0x2710', { size: 32 }),
    })
    const approval: EmittedLog = {
      topics: [toEventSelector('Approval(address,address,uint256)'), word(payer), word(chain.routerA)],
      data: pad('0x00', { size: 32 }),
    }
    const { blockNumber } = await chain.batch(
      [
        chain.routerB,
        emits(transfer(payer, receiver), approval, transfer(payer, chain.routerA), transfer(chain.routerA, receiver)),
      ],
      [chain.routerA, emits(transfer(payer, receiver))],
    )
    expect(await chain.read(blockNumber, '0.5')).toEqual([])
    expect(chain.quarantined).toEqual([])
  })
})

test('a conversion that is malformed is reported, and its payment is kept without it', async () => {
  const broken = { ...convert('0.5', chfUsd, null), data: '0x' as Hex }
  const { blockNumber } = await chain.node.execute({ to: chain.routerA, data: emits(broken, payment('0.5', 7n)) })
  const [paid] = await chain.read(blockNumber, '0.5')
  expect(paid).toMatchObject({ ordinal: 0, tokenOut: { gross: 7n }, pricing: { feeds: [] } })
  expect(chain.quarantined.map(({ reason }) => reason)).toEqual(['expected 64 bytes of data, got 0'])
})
