/** The search box: the limit, the filters after it, and the sentences about payments that are left out. */
import type { TwinIntegration } from '@payment-integration/testing/twin'
import { expect, it } from 'vitest'
import { setUpConsole } from '../../test/console-setup.js'
import { search } from './payments.js'

let shop: TwinIntegration
const find = (...given: [text: string, filter: Parameters<typeof search>[2], limit: number]) =>
  search(setup.twin.service.store.console, ...given)

const setup = setUpConsole(14, async (twin) => {
  shop = await twin.addIntegration()
  for (const memo of ['order-1', 'order-2', 'order-3']) {
    const paid = await twin.pay({ integrationAddress: shop.address, memo })
    if (memo === 'order-3') await twin.update(paid, { state: 'failure' })
  }
})

it('a memo of more payments than the page shows says which ones were filtered', async () => {
  const note = /only the first 2 by memo are filtered and shown/
  const cut = await find('order', {}, 2)
  expect([cut.payments.length, cut.notes]).toEqual([2, [expect.stringMatching(note)]])
  const filtered = await find('order', { state: 'failure' }, 2)
  expect([filtered.payments, filtered.notes]).toEqual([[], [expect.stringMatching(note)]])
})

it('a memo of as many payments as the page shows needs no note', async () => {
  const { payments, notes } = await find('order', { state: 'failure' }, 3)
  expect([payments.map(({ state }) => state), notes]).toEqual([['failure'], []])
})

it('a wallet of more payments than the page shows says so, and that unregistered integrations are left out', async () => {
  const wallet = `0x${'77'.repeat(20)}`
  const partialNote = /without a registered integration are not searched/
  const reads = setup.twin.service.store.console
  const { rows } = await reads.payments({ limit: 3 })
  const ofWallet = { ...reads, search: async (_: object, limit: number) => rows.slice(0, limit) }
  expect((await search(ofWallet, wallet, {}, 1)).notes).toEqual([
    expect.stringMatching(/only the newest 1 are filtered/),
    expect.stringMatching(partialNote),
  ])
  expect((await find(wallet, {}, 50)).notes).toEqual([expect.stringMatching(partialNote)])
  expect((await find(wallet, { integrationAddress: shop.address }, 50)).notes).toEqual([])
  const unnamed = await find(wallet, { integrationAddress: null }, 50)
  expect(unnamed).toMatchObject({ payments: [], notes: [expect.stringMatching(partialNote)] })
})
