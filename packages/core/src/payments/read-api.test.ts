import { expect, it, vi } from 'vitest'
import { storedPayment } from '../../test/support/stored-payment.js'
import type { IntegrationPaymentFilter } from '../operators/console-reads.js'
import { parseMasterKey } from '../secrets/keys.js'
import { createCursorCodec } from './cursor.js'
import type { PageQuery } from './payment-store.js'
import { createReadApi } from './read-api.js'

const integrationAddress = `0x${'1'.repeat(40)}`

/** Selects among payments with the block times `count` to 1, each tenth of which failed. */
function selectAmong(count: number) {
  const cursors = createCursorCodec(parseMasterKey('a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90'))
  const all = Array.from({ length: count }, (_, n) => {
    const blockTimestamp = count - n
    const state = blockTimestamp % 10 === 0 ? ('failure' as const) : ('success' as const)
    return storedPayment({ id: String(blockTimestamp), integrationAddress, blockTimestamp, state })
  })
  const list = vi.fn(async ({ after, limit }: PageQuery) => {
    const end = after?.blockTimestamp ?? Number.POSITIVE_INFINITY
    const rest = all.filter(({ blockTimestamp }) => blockTimestamp < end)
    const payments = rest.slice(0, limit)
    const last = rest.length > limit ? payments.at(-1) : undefined
    return { payments, next: last === undefined ? null : { ...last, asOf: 0 } }
  })
  const { select } = createReadApi({ payments: { list } as never }, cursors)
  return {
    list,
    async select(filter: IntegrationPaymentFilter, limit: number, cursor?: string | null) {
      const { rows, ...page } = await select(integrationAddress, { ...filter, limit, cursor: cursor ?? undefined })
      return { ...page, times: rows.map(({ blockTimestamp }) => blockTimestamp) }
    },
  }
}

it('a page of filtered payments ends where the list has filled it, and the next one continues there', async () => {
  const { select } = selectAmong(45)
  const first = await select({ state: 'failure' }, 2)
  expect([first.times, first.isCut]).toEqual([[40, 30], false])
  const second = await select({ state: 'failure' }, 2, first.next)
  expect(second).toEqual({ times: [20, 10], next: expect.any(String), isCut: false })
  expect(await select({ state: 'failure' }, 100)).toEqual({ times: [40, 30, 20, 10], next: null, isCut: false })
})

it('a page of filtered payments examines 5,000, and the next one continues there', async () => {
  const { select } = selectAmong(5_040)
  const first = await select({ until: 5_020, state: 'pending' }, 50)
  expect([first.times, first.isCut]).toEqual([[], true])
  expect(await select({ state: 'pending' }, 50, first.next)).toEqual({ times: [], next: null, isCut: false })
})

it('filtered payments are read from the end of the time range to its beginning alone', async () => {
  const { list, select } = selectAmong(1_000)
  expect((await select({ since: 96, until: 101 }, 10)).times).toEqual([100, 99, 98, 97, 96])
  expect(list).toHaveBeenCalledTimes(2)
  expect((await select({ until: 2_000 }, 2)).times).toEqual([1_000, 999])
})
