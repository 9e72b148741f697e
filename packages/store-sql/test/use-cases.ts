/** The core's use cases on a real database: run by the test file of each engine. @module */
import type { Service } from '@payment-integration/core'
import type { Store } from '@payment-integration/core/ports'
import { describe, expect, it } from 'vitest'
import { deferred } from '../../core/test/support/until.js'
import { hex, makeTxHash, scriptedChain } from './support/scripted-chain.js'
import { formatOutcome, type OpenMigrated, shop, update, useCaseSetup } from './support/use-case-setup.js'

const other = hex('other', 20)
const twoPayments = ['a', 'b'].map((tx) => ({ tx, integrationAddress: shop }))
const title = (text: string) => ({ recipient: { title: text, subtitle: null } })
const get = ({ queries }: Service, tx: string, reader = shop) =>
  queries.forIntegration(reader).getPayment({ txHash: makeTxHash(tx) })
const list = ({ queries }: Service) => queries.forIntegration(shop).listPayments({})

export function useCases(engine: string, open: OpenMigrated): void {
  describe(`use cases on ${engine}`, () => {
    const { events, openStore, setup, setupOn, indexAll, withPayments, bodies, changes } = useCaseSetup(open)

    it('no query of an integration returns a row of another, with any filter', async () => {
      const theirs = { tx: 'a', integrationAddress: other }
      const { chain, service } = await withPayments()
      await service.integrations.create({ address: other, notificationUrl: 'https://other.example/hook' })
      chain.mine([theirs, { tx: 'b', integrationAddress: shop }, { ...theirs, tx: 'c' }])
      await indexAll(service)
      await service.dispatcher.runOnce()
      const txHash = makeTxHash('a')
      const asOther = service.queries.forIntegration(other)
      const [delivery] = (await asOther.deliveries({ limit: 9 })).rows
      const { nextCursor } = await asOther.listPayments({ limit: '1' })
      const named = { integrationAddress: other, txHash, limit: '9', wallet: hex('sender', 20) }
      const own = service.queries.forIntegration(shop)
      async function readAll(list: ReturnType<typeof own.deliveryListing>): Promise<readonly object[]> {
        const all: object[] = []
        for await (const page of list.pages()) all.push(...page)
        return all
      }
      // One row for each query: a new one fails here until it has its own.
      const asked: Record<keyof typeof own, unknown> = {
        integrationAddress: own.integrationAddress,
        listPayments: await own.listPayments(named),
        getPayment: await own.getPayment(named).catch(({ code }) => code),
        paymentDetail: await own.paymentDetail(137, txHash, () => [1]),
        deliveries: await own.deliveries({ ...named, limit: 9, beforeId: `${Number(delivery?.deliveryId) + 9}` }),
        payments: await Promise.all([own.payments({ limit: 9 }), own.payments({ ...named, limit: 9 })]),
        paymentListing: await Promise.all([readAll(own.paymentListing({})), readAll(own.paymentListing(named))]),
        deliveryListing: await readAll(own.deliveryListing({ ...named, txHash: undefined })),
        endpoint: await own.endpoint(),
        lastFailure: await own.lastFailure(),
      }
      expect(Object.keys(asked).sort()).toEqual(Object.keys(own).sort())
      expect(asked).toMatchObject({ getPayment: 'ERR_PAYMENT_NOT_FOUND', paymentDetail: null, lastFailure: null })
      const text = JSON.stringify(asked, (_, value) => (typeof value === 'bigint' ? String(value) : value))
      expect(text).toContain(makeTxHash('b'))
      for (const foreign of [other, txHash]) expect(text).not.toContain(foreign)
      const foreignPage = own.listPayments({ cursor: nextCursor ?? '' })
      await expect(foreignPage).rejects.toMatchObject({ code: 'ERR_CURSOR_INVALID' })
      const foreignPayments = own.payments({ cursor: nextCursor ?? '', limit: 9 })
      await expect(foreignPayments).rejects.toMatchObject({ code: 'ERR_CURSOR_INVALID' })
    })

    it('twenty concurrent updates leave no gap and no duplicate in the versions', async () => {
      const { service } = await withPayments({ tx: 'a', integrationAddress: shop })
      const apply = (index: number) => service.applyUpdate(update(`u${index}`, 'a', title(`Shop ${index}`)))
      const results = await Promise.all(Array.from({ length: 20 }, (_, index) => apply(index)))
      const versions = results.map((result) => result.version ?? 0).sort((a, b) => a - b)
      expect(versions).toEqual(Array.from({ length: 20 }, (_, index) => index + 2))
    })

    it('an update that races with the indexing of its payment is applied exactly once', async () => {
      const chain = scriptedChain(137)
      const service = setup(chain)
      await service.integrations.create({ address: shop, notificationUrl: 'https://shop.example/hook' })
      for (let round = 0; round < 25; round += 1) {
        chain.mine([{ tx: `r${round}`, integrationAddress: shop }])
        await Promise.all([
          service.applyUpdate(update(`u${round}`, `r${round}`, { state: 'success' })),
          indexAll(service),
        ])
        const payment = await get(service, `r${round}`)
        expect(payment, `round ${round}`).toMatchObject({ version: 2, state: 'success' })
      }
    })

    it('payments of one transaction for two integrations are seen by each alone; an update must say which', async () => {
      const { service } = await withPayments(
        { tx: 'a', ordinal: 0, integrationAddress: shop },
        { tx: 'a', ordinal: 1, integrationAddress: other },
      )
      expect((await list(service)).payments).toHaveLength(1)
      expect(await service.applyUpdate(update('u1', 'a', { state: 'success' }))).toMatchObject({ outcome: 'rejected' })
      const named = update('u2', 'a', { state: 'success', integrationAddress: other.toUpperCase().replace('0X', '0x') })
      expect(await service.applyUpdate(named)).toMatchObject({ outcome: 'applied' })
      expect((await get(service, 'a')).state).toBeNull()
      expect((await get(service, 'a', other)).state).toBe('success')
    })

    it('an update for an integration that no payment of the transaction has is rejected, early or late', async () => {
      const rejected = { outcome: 'rejected', reason: 'no payment of the transaction names this integrationAddress' }
      const { chain, service } = await withPayments({ tx: 'a', integrationAddress: shop })
      const wrong = (id: string, tx: string) => update(id, tx, { state: 'success', integrationAddress: other })
      expect(await service.applyUpdate(wrong('u1', 'a'))).toMatchObject(rejected)
      const waits = { outcome: 'waiting', reason: 'applied once the payment is indexed' }
      for (let n = 0; n < 2; n += 1) expect(await service.applyUpdate(wrong('u2', 'b'))).toMatchObject(waits)
      chain.mine([{ tx: 'b', integrationAddress: shop }])
      await indexAll(service)
      expect(await service.applyUpdate(wrong('u2', 'b'))).toMatchObject(rejected)
      expect((await get(service, 'b')).version).toBe(1)
    })

    it('rotations of an API secret at once take place one after another, and the last two secrets work', async () => {
      const { service } = await withPayments()
      await service.integrations.create({ address: other })
      const rotate = () => service.integrations.rotateApiSecret(other, { graceMs: 60_000 })
      for (const { apiSecret } of await Promise.all([rotate(), rotate()])) {
        const credentials = Buffer.from(`${other}:${apiSecret}`).toString('base64')
        expect(await service.authenticate(`Basic ${credentials}`)).not.toBeNull()
      }
    })

    it('signing secrets prepared at once are one, and of two activations at once one wins', async () => {
      const { service } = await withPayments()
      const { integrations } = service
      await integrations.create({ address: other })
      const prepared = await Promise.all([1, 2, 3, 4].map(() => integrations.prepareSigningSecret(other)))
      expect(new Set(prepared.map(({ signingSecret }) => signingSecret)).size).toBe(1)
      expect(prepared.filter(({ isNew }) => isNew)).toHaveLength(1)
      const activations = await Promise.allSettled([1, 2].map(() => integrations.activateSigningSecret(other)))
      const lost = activations.flatMap((each) => (each.status === 'rejected' ? [each.reason.code] : []))
      expect(lost).toEqual(['ERR_SIGNING_SECRET_NOT_PREPARED'])
    })

    it('a page of exactly the last rows has no next cursor', async () => {
      const { service } = await withPayments({ tx: 'a', integrationAddress: shop })
      expect((await service.queries.forIntegration(shop).listPayments({ limit: '1' })).nextCursor).toBeNull()
    })

    it('several updates are applied in their order, each with its own outcome', async () => {
      const { service } = await withPayments(...twoPayments)
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
      expect(outcomes.map(formatOutcome)).toEqual([
        ...[
          'applied 2',
          'applied 2',
          'applied 3',
          'applied 2',
          'conflict',
          'rejected 3',
          'waiting null',
          'unchanged 3',
        ],
      ])
      const sent = (await bodies()).map((body) => JSON.parse(body) as { txHash: string; version: number })
      const ofFirst = sent.filter(({ txHash }) => txHash === makeTxHash('a'))
      expect(ofFirst.map(({ version }) => version)).toEqual([1, 2, 3])
      expect((await get(service, 'a')).state).toBe('success')
      // A rejected update that is sent again gets the same answer.
      const again = { outcome: 'rejected', reason: 'state success cannot become pending', version: 3 }
      expect(await service.applyUpdate(update('u3', 'a', { state: 'pending' }))).toMatchObject(again)
      expect((await get(service, 'a')).version).toBe(3)
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
      const updates = [update('u1', 'a', { state: 'pending' }), { ...update('u2', 'a', {}), chainId: 'one' }]
      await expect(service.applyUpdates(updates)).rejects.toThrow(TypeError)
      expect(changes()).toEqual([])
    })

    it('an update inside a host’s own transaction is rejected at once, while two others wait for that transaction', async () => {
      const { service } = await withPayments({ tx: 'a', integrationAddress: shop })
      const [locked, queued] = [deferred(), deferred()]
      const host = openStore().transaction(async (tx) => {
        await tx.paymentsForChange({ chainId: 137, txHash: makeTxHash('a') })
        locked.resolve()
        await queued.promise
        await service.applyUpdate(update('inside', 'a', { state: 'success' }))
      })
      await locked.promise
      const others = ['u1', 'u2'].map((id) => service.applyUpdate(update(id, 'a', { state: 'pending' })))
      queued.resolve()
      await expect(host).rejects.toThrow(TypeError)
      expect((await Promise.all(others)).map(({ outcome }) => outcome).sort()).toEqual(['applied', 'unchanged'])
      expect(await service.applyUpdate(update('inside', 'a', { state: 'success' }))).toMatchObject({ version: 3 })
    })

    it('one id with two contents at once: one is applied, the other is a conflict and leaves nothing', async () => {
      const { service } = await withPayments(...twoPayments)
      for (let round = 1; round <= 10; round += 1) {
        const [id, names] = [`u${round}`, [`a ${round}`, `b ${round}`]]
        const settled = await Promise.allSettled([
          service.applyUpdate(update(id, 'a', title(`a ${round}`))),
          service.applyUpdate(update(id, 'b', title(`b ${round}`))),
        ])
        const rejected = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []))
        expect(rejected, `round ${round}`).toEqual([expect.objectContaining({ code: 'ERR_UPDATE_CONFLICT' })])
        const { payments } = await list(service)
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
        expect((await get(service, 'a')).version).toBe(1 + 2 * round)
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
      const rejections: unknown[] = []
      const bothLead: Store = { ...openStore(), leases: { ...openStore().leases, acquire: async () => true } }
      const watched: Store = {
        ...bothLead,
        transaction: (work) =>
          openStore()
            .transaction(work)
            .catch((error: { code?: unknown }) => {
              rejections.push(error.code)
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
      expect(rejections).toEqual(['ERR_CHECKPOINT_CHANGED'])
      expect((await list(one)).payments.map(({ memo }) => memo)).toEqual(['theirs'])
      await indexAll(one)
      expect((await get(one, 'ours')).version).toBe(1)
      expect(events.filter((event) => event.type === 'chain.reorganized')).toHaveLength(2)
    })
  })
}
