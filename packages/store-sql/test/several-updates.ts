/** Several updates in one request, on a real database: run by the test file of each engine. @module */
import { describe, expect, it } from 'vitest'
import { makeTxHash } from './support/scripted-chain.js'
import { type OpenMigrated, shop, update, useCaseSetup } from './support/use-case-setup.js'
export function severalUpdates(engine: string, open: OpenMigrated): void {
  describe(`several updates on ${engine}`, () => {
    const { openStore, withPayments, bodies, changes } = useCaseSetup(open)

    it('several updates are applied in their order, each with its own outcome', async () => {
      const { service } = await withPayments(
        { tx: 'a', integrationAddress: shop },
        { tx: 'b', integrationAddress: shop },
      )
      const known = update('u0', 'b', { state: 'pending' })
      await service.applyUpdate(known)
      const outcomes = await service.applyUpdates([
        update('u1', 'a', { state: 'pending' }),
        known,
        update('u2', 'a', { state: 'success' }),
        update('u1', 'a', { state: 'pending' }),
        update('u1', 'a', { state: 'failure' }),
        update('u3', 'a', { state: 'pending' }),
        update('u4', 'none', { state: 'pending' }),
        update('u5', 'a', { state: 'success' }),
      ])
      const shown = outcomes.map((one) =>
        one.status === 'fulfilled' ? [one.value.outcome, one.value.version] : 'conflict',
      )
      expect(shown).toEqual([
        ['applied', 2],
        ['applied', 2],
        ['applied', 3],
        ['applied', 2],
        'conflict',
        ['refused', 3],
        ['waiting', null],
        ['unchanged', 3],
      ])
      const versions = (await bodies()).map((body) => JSON.parse(body) as { txHash: string; version: number })
      expect(versions.filter(({ txHash }) => txHash === makeTxHash('a')).map(({ version }) => version)).toEqual([
        1, 2, 3,
      ])
      expect((await service.queries.forIntegration(shop).getPayment({ txHash: makeTxHash('a') })).state).toBe('success')
    })

    it('250 updates of 250 payments are applied in parts, and again get the same answers', async () => {
      const names = Array.from({ length: 250 }, (_, n) => `t${n}`)
      const { service } = await withPayments(...names.map((tx) => ({ tx, integrationAddress: shop })))
      const updates = names.map((tx, n) => update(`u${n}`, tx, { state: n % 2 === 0 ? 'success' : 'pending' }))
      const first = await service.applyUpdates(updates)
      expect(new Set(first.map((one) => one.status === 'fulfilled' && one.value.version))).toEqual(new Set([2]))
      expect(await service.applyUpdates([...updates].reverse())).toEqual([...first].reverse())
      expect(await bodies()).toHaveLength(500)
    })

    it('of several updates one without the shape of the contract rejects all, and nothing is applied', async () => {
      const { service } = await withPayments({ tx: 'a', integrationAddress: shop })
      const malformed = { ...update('u2', 'a', {}), chainId: 'one' }
      await expect(service.applyUpdates([update('u1', 'a', { state: 'pending' }), malformed])).rejects.toThrow(
        TypeError,
      )
      expect(changes()).toEqual([])
    })

    it('an update inside a host’s own transaction is rejected at once, while two others wait for that transaction', async () => {
      const { service } = await withPayments({ tx: 'a', integrationAddress: shop })
      const [locked, queued] = [signal(), signal()]
      const host = openStore().transaction(async (tx) => {
        await tx.paymentsForChange({ chainId: 137, txHash: makeTxHash('a') })
        locked.give()
        await queued.given
        await service.applyUpdate(update('inside', 'a', { state: 'success' }))
      })
      await locked.given
      const others = ['u1', 'u2'].map((id) => service.applyUpdate(update(id, 'a', { state: 'pending' })))
      queued.give()
      await expect(host).rejects.toThrow(TypeError)
      expect((await Promise.all(others)).map(({ outcome }) => outcome).sort()).toEqual(['applied', 'unchanged'])
      expect(await service.applyUpdate(update('inside', 'a', { state: 'success' }))).toMatchObject({ version: 3 })
    })
  })
}

/** A promise that another part of the test resolves. */
function signal(): { readonly given: Promise<void>; give(): void } {
  let give = (): void => undefined
  const given = new Promise<void>((resolve) => {
    give = resolve
  })
  return { given, give }
}
