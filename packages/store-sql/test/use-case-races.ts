/** Use cases that meet on a real database: run by the test file of each engine. @module */
import type { Store } from '@payment-integration/core/ports'
import { describe, expect, it } from 'vitest'
import { makeTxHash, scriptedChain } from './support/scripted-chain.js'
import { type OpenMigrated, shop, update, useCaseSetup } from './support/use-case-setup.js'

const title = (text: string) => ({ recipient: { title: text, subtitle: null } })
export function useCaseRaces(engine: string, open: OpenMigrated): void {
  describe(`use cases that meet on ${engine}`, () => {
    const { events, openStore, setupOn, indexAll, withPayments, bodies, changes } = useCaseSetup(open)

    it('one id with two contents at once: one is applied, the other is a conflict and leaves nothing', async () => {
      const { service } = await withPayments(
        { tx: 'a', integrationAddress: shop },
        { tx: 'b', integrationAddress: shop },
      )
      for (let round = 1; round <= 10; round += 1) {
        const [id, names] = [`u${round}`, [`a ${round}`, `b ${round}`]]
        const settled = await Promise.allSettled([
          service.applyUpdate(update(id, 'a', title(`a ${round}`))),
          service.applyUpdate(update(id, 'b', title(`b ${round}`))),
        ])
        const refused = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []))
        expect(refused, `round ${round}`).toEqual([expect.objectContaining({ code: 'ERR_UPDATE_CONFLICT' })])
        const { payments } = await service.queries.forIntegration(shop).listPayments({})
        expect(payments.filter(({ recipient }) => names.includes(recipient?.title ?? ''))).toHaveLength(1)
        expect(payments.reduce((sum, { version }) => sum + version, 0)).toBe(2 + round)
      }
      expect(await bodies()).toHaveLength(2 + 10)
    })

    it('copies of an update that race with another one are applied once, before it or after it', async () => {
      const { service } = await withPayments({ tx: 'a', integrationAddress: shop })
      for (let round = 1; round <= 10; round += 1) {
        const copy = () => service.applyUpdate(update(`copy${round}`, 'a', title(`copied ${round}`)))
        const other = () => service.applyUpdate(update(`other${round}`, 'a', title(`other ${round}`)))
        const copies = [copy(), other(), copy(), copy()]
        const outcomes = new Set((await Promise.all(copies)).map(({ id, version }) => `${id} ${version}`))
        expect(outcomes.size, `round ${round}`).toBe(2)
        expect((await service.queries.forIntegration(shop).getPayment({ txHash: makeTxHash('a') })).version).toBe(
          1 + 2 * round,
        )
      }
      expect(changes().sort((x, y) => x - y)).toEqual(Array.from({ length: 20 }, (_, index) => index + 2))
    })

    it('requests with the same updates in other orders meet, and each update is applied once', async () => {
      const names = Array.from({ length: 30 }, (_, n) => `t${n}`)
      const { service } = await withPayments(...names.map((tx) => ({ tx, integrationAddress: shop })))
      for (let round = 1; round <= 5; round += 1) {
        const updates = names.map((tx) => update(`${tx} ${round}`.replace(' ', '-'), tx, title(`${tx} ${round}`)))
        const waiting = updates.map((one) => ({ ...one, id: `${one.id}-w`, txHash: makeTxHash(`later ${one.id}`) }))
        const all = [...updates, ...waiting]
        const orders = [all, [...all].reverse(), [...waiting, ...updates]]
        const answers = await Promise.all(orders.map((order) => service.applyUpdates(order)))
        const byId = (each: (typeof answers)[number]) =>
          each.map((one) => JSON.stringify(one.status === 'fulfilled' ? one.value : one.reason)).sort()
        expect(byId(answers[1] ?? []), `round ${round}`).toEqual(byId(answers[0] ?? []))
        expect(byId(answers[2] ?? []), `round ${round}`).toEqual(byId(answers[0] ?? []))
      }
      expect(changes().sort((a, b) => a - b)).toEqual(names.flatMap(() => [2, 3, 4, 5, 6]).sort((a, b) => a - b))
    })

    it('a range on a block that another indexer replaced at the same height is rejected, although both have a lease', async () => {
      const refusals: unknown[] = []
      const bothLead: Store = { ...openStore(), leases: { ...openStore().leases, acquire: async () => true } }
      const watched: Store = {
        ...bothLead,
        transaction: (work) =>
          openStore()
            .transaction(work)
            .catch((error: { code?: unknown }) => {
              refusals.push(error.code)
              throw error
            }),
      }
      const [ours, theirs] = [scriptedChain(137), scriptedChain(137)]
      for (const chain of [ours, theirs]) chain.mine()
      ours.mine()
      theirs.drop(0)
      theirs.mine([{ tx: 'theirs', integrationAddress: shop }])
      const [one, two] = [setupOn(watched, ours), setupOn(bothLead, theirs)]
      await indexAll(one)
      ours.mine([{ tx: 'ours', integrationAddress: shop }])
      const { ranges } = ours.chain
      // While `one` reads the block above its own, `two` replaces the block at that height.
      ours.chain.ranges = async function* (request) {
        ours.chain.ranges = ranges
        await indexAll(two)
        yield* ranges(request)
      }
      await one.indexers[0]?.step()
      expect(refusals).toEqual(['ERR_CHECKPOINT_MOVED'])
      expect((await one.queries.forIntegration(shop).listPayments({})).payments.map(({ memo }) => memo)).toEqual([
        'theirs',
      ])
      await indexAll(one)
      expect((await one.queries.forIntegration(shop).getPayment({ txHash: makeTxHash('ours') })).version).toBe(1)
      expect(events.filter((event) => event.type === 'chain.reorganised')).toHaveLength(2)
    })
  })
}
