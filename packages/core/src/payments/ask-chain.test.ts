import type { ProcessorUpdate } from '@payment-integration/contract'
import { describe, expect, test } from 'vitest'
import { turns } from '../../test/support/manual-clock.js'
import { pollerOverPayments } from '../../test/support/receipt-poller.js'
import { getName } from '../../test/support/stored-payment.js'
import { deferred, until } from '../../test/support/until.js'
import { ChainError } from '../errors.js'
import type { ReceiptSource } from '../ports/chain.js'

const unreachable = (chainId: number) => new ChainError('ERR_CHAIN_UNAVAILABLE', chainId, 'no answer')

describe('a source that is slow', () => {
  test('is polled for as many payments of a chain at once as the concurrency allows', async () => {
    const answers = Array.from({ length: 7 }, () => deferred<ProcessorUpdate | null>())
    let next = 0
    const { poller, add, asked } = pollerOverPayments(
      { concurrency: 3 },
      async () => (await answers[next++]?.promise) ?? null,
    )
    const ids = answers.map((_, n) => `p${n}`)
    for (const id of ids) await add(id)
    const round = poller.runOnce()
    await until('three lookups', () => asked.length === 3)
    await turns()
    expect(asked).toEqual(ids.slice(0, 3))
    answers[1]?.resolve(null)
    await until('a fourth', () => asked.length === 4)
    await turns()
    expect(asked).toEqual(ids.slice(0, 4))
    for (const { resolve } of answers) resolve(null)
    await round
    expect(asked).toEqual(ids)
  })

  test('on one chain does not delay another, in this round and in the next ones', async () => {
    const never = deferred<null>()
    const { poller, add, asked, clock } = pollerOverPayments({ concurrency: 1 }, ({ chainId }) =>
      chainId === 1 ? never.promise : Promise.resolve(null),
    )
    for (const id of ['a', 'b', 'c']) await add(id)
    for (const id of ['x', 'y', 'z']) await add(id, 'pending', { chainId: 2 })
    const stop = new AbortController()
    const run = poller.run(stop.signal)
    await until('the first round', () => asked.length === 4)
    await until('its end', () => clock.sleepers().length === 1)
    await clock.advance(15_000)
    await until('the second round', () => asked.length === 7)
    expect(asked.filter((id) => id >= 'x')).toEqual(['x', 'y', 'z', 'x', 'y', 'z'])
    expect(asked.filter((id) => id < 'x')).toEqual(['a'])
    stop.abort()
    let ended = false
    const end = run.then(() => {
      ended = true
    })
    await turns()
    expect(ended).toBe(false)
    never.resolve(null)
    await end
    expect(asked).toHaveLength(7)
  })
})

describe('a chain that cannot be reached', () => {
  const silentFirst: ReceiptSource['lookup'] = async ({ chainId }) => {
    if (chainId === 1) throw unreachable(chainId)
    return null
  }

  test('rests for the round, is logged once, and does not stop another', async () => {
    const { poller, add, asked, logger } = pollerOverPayments({ concurrency: 2, batch: 3 }, silentFirst)
    for (let n = 0; n < 9; n += 1) {
      await add(`a${n}`)
      await add(`b${n}`, null, { chainId: 2 })
    }
    await poller.runOnce()
    expect(asked.filter((id) => id.startsWith('a'))).toEqual(['a0', 'a1'])
    expect(asked.filter((id) => id.startsWith('b'))).toHaveLength(9)
    expect(logger.lines).toMatchObject([
      { level: 'warn', fields: { chainId: 1, error: 'ERR_CHAIN_UNAVAILABLE: no answer' } },
    ])
  })

  test('is polled on after the polled payments, then from the oldest again', async () => {
    let failing: readonly string[] = ['a1']
    const { poller, add, asked } = pollerOverPayments({ concurrency: 1 }, async (payment) => {
      if (failing.includes(getName(payment))) throw unreachable(payment.chainId)
      return null
    })
    for (const id of ['a0', 'a1', 'a2', 'a3']) await add(id)
    const round = async () => {
      asked.length = 0
      await poller.runOnce()
      return [...asked]
    }
    expect(await round()).toEqual(['a0', 'a1'])
    expect(await round()).toEqual(['a2', 'a3'])
    failing = ['a3']
    expect(await round()).toEqual(['a0', 'a1', 'a2', 'a3'])
    failing = []
    expect(await round()).toEqual(['a0', 'a1', 'a2', 'a3'])
  })

  test.each([null, 'ERR_CHAIN_UNAVAILABLE', { code: 7 }, { code: 'ERR_RECEIPT_INVALID' }])(
    'is not what a rejection with %j says',
    async (reason) => {
      const { poller, add, asked, logger } = pollerOverPayments({ concurrency: 1 }, () => Promise.reject(reason))
      await add('a')
      await add('b')
      await poller.runOnce()
      expect(asked).toEqual(['a', 'b'])
      expect(logger.lines).toHaveLength(2)
    },
  )
})
