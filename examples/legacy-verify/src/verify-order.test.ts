import { createLegacyClient } from '@payment-integration/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startClauses } from '../../../packages/server/test/support/clause-service.js'
import { facts, indexPayments } from '../../../packages/server/test/support/index-payments.js'
import { startProgram, whenEnded } from '../../../packages/testing/test/run-program.js'
import { type ExpectedPayment, verifyOrder } from './verify-order.js'

const { txHash, receiver } = facts()
const finalHash = `0x${'2'.repeat(64)}`
const order: ExpectedPayment = { chainId: 1, txHash, amount: '12.50', currency: 'USD', receiver, memo: 'order 17' }
let service: Awaited<ReturnType<typeof startClauses>>
let apiKey: string
beforeAll(async () => {
  service = await startClauses()
  await indexPayments(service.store, [facts()])
  service.chain().mine([{ txHash: finalHash }])
  for (let mined = 0; mined < 3; mined++) service.chain().mine([])
  await service.index()
  apiKey = (await service.service.legacyKeys.create({ name: 'till' })).apiKey
})
afterAll(() => service?.stop())

const verify = (change: Partial<ExpectedPayment>, key = apiKey) =>
  verifyOrder(createLegacyClient({ baseUrl: service.url, apiKey: key }), { ...order, ...change })

describe('against a real service', () => {
  test('a payment as ordered is paid, and final only when enough blocks are above it', async () => {
    expect(await verify({})).toEqual({ kind: 'paid', final: false })
    expect(await verify({ txHash: finalHash })).toEqual({ kind: 'paid', final: true })
  })

  test.each<[string, Partial<ExpectedPayment>, readonly string[]]>([
    ['of another amount', { amount: '12.51' }, ['Invalid payment amount']],
    ['in another currency', { currency: 'EUR' }, ['Invalid payment currency']],
    ['to another receiver', { receiver: `0x${'99'.repeat(20)}` }, ['Invalid payment address']],
    ['for another order', { memo: 'order 18' }, ['Another memo']],
  ])('a payment %s is not paid, with the reason', async (_, change, reasons) => {
    expect(await verify(change)).toEqual({ kind: 'not_paid', reasons })
  })

  test('a transaction without a payment is unknown', async () => {
    expect(await verify({ txHash: `0x${'ff'.repeat(32)}` })).toEqual({ kind: 'unknown' })
  })

  test('a wrong key is an error, not a verdict', async () => {
    await expect(verify({}, 'another-key')).rejects.toMatchObject({ code: 'ERR_UNAUTHORIZED' })
  })
})

describe('the script', () => {
  const run = (values: readonly string[], env: Record<string, string>) =>
    whenEnded(startProgram(new URL('main.ts', import.meta.url), env, ...values))
  const values = (amount: string, hash = txHash) => ['1', hash, amount, 'USD', receiver, 'order 17']

  test('exits with 0 for a final paid order, 3 before it is final, 1 for an unpaid one, and 2 without enough arguments', async () => {
    const env = { LEGACY_BASE_URL: service.url, LEGACY_API_KEY: apiKey }
    expect(await run(values('12.50', finalHash), env)).toEqual({ exitCode: 0, out: 'paid, final\n', err: '' })
    const notFinal = expect.stringContaining('paid, not final yet')
    expect(await run(values('12.50'), env)).toMatchObject({ exitCode: 3, out: notFinal })
    expect(await run(values('1'), env)).toEqual({ exitCode: 1, out: 'not paid: Invalid payment amount\n', err: '' })
    expect(await run(values('1'), {})).toMatchObject({ exitCode: 2 })
  })

  test('an error is no verdict: it exits with 2 and its message', async () => {
    const env = { LEGACY_BASE_URL: service.url, LEGACY_API_KEY: 'another-key' }
    const failed = (message: RegExp) => ({ exitCode: 2, out: '', err: expect.stringMatching(message) })
    expect(await run(values('12.50'), env)).toEqual(failed(/^The service rejected the credentials/))
    const wrongUrl = { ...env, LEGACY_BASE_URL: `${service.url}/api/v1` }
    expect(await run(values('12.50'), wrongUrl)).toEqual(failed(/^baseUrl: leave \/api\/v1 out/))
  })
})
