import type { Address } from 'viem'
import { describe, expect, test } from 'vitest'
import { makeAddresses, transferLog } from '../../test/router-logs.js'
import type { ReceiptLog } from '../rpc/answers.js'
import { nativeTokenAddress } from './router-decoder.js'
import { computeSwapInput } from './transfers.js'

const [router, from, sender, receiver, wrapped, paid] = makeAddresses('f0', 'a1', 'a2', 'b2', 'c3', 'd4')
const hash = `0x${'11'.repeat(32)}`
const memoHex = `0x${'00'.repeat(32)}`
const word = (value: string | bigint) =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0')

const transaction = { hash, blockHash: hash, from, to: router, value: 0n, input: '0x' }
const call = { token: wrapped, amountIn: 1_000n }
const by = { kind: 'payment', provedBy: 'event' } as const
const payment = { ...by, sender, receiver, token: paid, gross: 9n, net: 9n, memoHex }
const emitted = { router, payment }
const receiptWith = (...logs: ReceiptLog[]) => ({ ...{ hash, blockHash: hash, blockNumber: 1, succeeded: true, logs } })
const withdrawalTopic = '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65'
const transfer = (a: Address, b: Address, amount: bigint, address: string = wrapped) => ({
  address,
  ...transferLog(a, b, amount),
})
const withdrawal = (who: string, amount: bigint, token: string = wrapped): ReceiptLog => ({
  address: token,
  topics: [withdrawalTopic, `0x${word(who)}`],
  data: `0x${word(amount)}`,
})

describe('an ERC-20 token in', () => {
  const { topics } = transfer(from, router, 7n)
  test.each([
    ['one transfer', [transfer(from, router, 700n)], 700n],
    ['several transfers', [transfer(from, router, 700n), transfer(from, router, 5n)], 705n],
    ['a remainder', [transfer(from, router, 700n), transfer(router, sender, 100n)], 600n],
    ['another token', [transfer(from, router, 700n, paid)], 1_000n],
    ['a transfer of somebody else', [transfer(sender, router, 700n)], 1_000n],
    ['a transfer elsewhere', [transfer(from, receiver, 700n)], 1_000n],
    ['everything given back', [transfer(from, router, 700n), transfer(router, from, 700n)], 1_000n],
    ['no logs', [], 1_000n],
    ['an NFT, whose transfer has four topics', [{ ...transfer(from, router, 7n), topics: [...topics, hash] }], 1_000n],
    ['a transfer without data', [{ ...transfer(from, router, 7n), data: '0x' }], 1_000n],
  ])('%s', (_, logs, amount) => {
    expect(computeSwapInput(transaction, call, emitted, receiptWith(...logs))).toEqual({ token: wrapped, amount })
  })
})

describe('a native token in', () => {
  const withValue = { ...transaction, value: 500n }
  test.each([
    ['the value', [], 500n],
    ['the value less what was unwrapped to give back', [withdrawal(router, 120n)], 380n],
    ['not less what others unwrap', [withdrawal(sender, 120n), withdrawal(router, 120n, paid)], 500n],
    ['never nothing', [withdrawal(router, 500n)], 500n],
  ])('is %s', (_, logs, amount) => {
    const input = computeSwapInput(withValue, call, emitted, receiptWith(...logs))
    expect(input).toEqual({ token: nativeTokenAddress, amount })
  })

  test('is the value when the payee is paid in native coins, since those are unwrapped too', () => {
    const native = { router, payment: { ...payment, token: nativeTokenAddress } }
    expect(computeSwapInput(withValue, call, native, receiptWith(withdrawal(router, 120n))).amount).toBe(500n)
  })
})
