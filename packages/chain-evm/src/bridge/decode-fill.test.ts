import type { Address } from 'viem'
import { describe, expect, test } from 'vitest'
import { type Bridged, bridgedOf, fillLog, fillNames } from '../../test/across-logs.js'
import { bridgeDeposit } from '../../test/bridge-deposit.js'
import { decodeFill, isFillOf } from './spoke-pools.js'

const address = (byte: string): Address => `0x${byte.repeat(20)}`
const deposit = bridgeDeposit()
const bridged = bridgedOf(deposit, { message: `0x${'ee'.repeat(70)}` })

describe.each(fillNames)('%s', (name) => {
  const isFilled = (changes: Partial<Bridged> = {}) => {
    const fill = decodeFill({ address: '0x', ...fillLog(name, { ...bridged, ...changes }) })
    return fill !== null && isFillOf(fill, deposit)
  }

  test('is decoded, and matches the deposit that it repeats', () => {
    const { originChainId, depositId, depositor, recipient, inputToken, inputAmount, outputToken } = bridged
    expect(decodeFill({ address: '0x', ...fillLog(name, bridged) })).toEqual({
      ...{ originChainId, depositId, depositor, recipient, outputToken, paidTo: recipient },
      ...{ input: { token: inputToken, amount: inputAmount }, paidAmount: bridged.outputAmount },
    })
    expect(isFilled()).toBe(true)
  })

  test.each<[string, Partial<Bridged>]>([
    ['is for another origin', { originChainId: 999n }],
    ['is for another deposit', { depositId: 78n }],
    ['is for another depositor', { depositor: address('77') }],
    ['is for another recipient', { recipient: address('77') }],
    ['paid another one than the recipient', { updatedRecipient: address('77') }],
    ['has another input token', { inputToken: address('77') }],
    ['has another input amount', { inputAmount: 1n }],
    ['has another output token', { outputToken: address('77') }],
  ])('that %s does not fulfil it', (_, changes) => expect(isFilled(changes)).toBe(false))

  test('that is truncated anywhere is parsed whole or not at all', () => {
    const log = fillLog(name, bridged)
    const whole = decodeFill({ address: '0x', ...log })
    for (let end = 2; end < log.data.length; end += 7) {
      const read = decodeFill({ address: '0x', ...log, data: log.data.slice(0, end) })
      if (read !== null) expect(read).toEqual(whole)
    }
    expect(decodeFill({ address: '0x', ...log, topics: log.topics.slice(0, 3) })).toBeNull()
  })
})
