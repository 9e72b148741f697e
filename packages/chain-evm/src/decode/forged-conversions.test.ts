/** Stray, forged, foreign and malformed events on a real chain are no payment and no conversion. */
import { type Address, type Hex, pad, toEventSelector } from 'viem'
import { describe, expect, test } from 'vitest'
import { chfUsd, convert, emits, openConversionChain, payment } from '../../test/conversion-chain.js'
import type { EmittedLog } from '../../test/router-logs.js'
import { payer, receiver } from '../../test/test-chain.js'

const chain = await openConversionChain()

describe('nothing is indexed', () => {
  test('of conversions that no payment follows, and their transaction is not read', async () => {
    const { blockNumber } = await chain.node.execute({ to: chain.routerA, data: emits(convert('0.8', chfUsd, null)) })
    const requests = await chain.front.during(async () => expect(await chain.read(blockNumber, '0.8')).toEqual([]))
    expect(requests.flat()).not.toContain('eth_getTransactionByHash')
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
    const { routerA, routerB } = chain
    const moves = [transfer(payer, receiver), approval, transfer(payer, routerA), transfer(routerA, receiver)]
    const { blockNumber } = await chain.batch([routerB, emits(...moves)], [routerA, emits(transfer(payer, receiver))])
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
