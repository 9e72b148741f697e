/** The core's use cases on a real database: run by the test file of each engine. @module */
import { describe, expect, it } from 'vitest'
import { hex, makeTxHash, scriptedChain } from './support/scripted-chain.js'
import { type OpenMigrated, shop, update, useCaseSetup } from './support/use-case-setup.js'

const other = hex('other', 20)
const notFound = expect.objectContaining({ code: 'ERR_PAYMENT_NOT_FOUND' })
export function useCases(engine: string, open: OpenMigrated): void {
  describe(`use cases on ${engine}`, () => {
    const { events, openStore, setup, indexAll, withPayments, bodies, changes } = useCaseSetup(open)

    it('the first indexing is version 1 without a state, and is owed to the integration it names', async () => {
      const { service } = await withPayments({ tx: 'a', integrationAddress: shop })
      const payment = await service.queries.forIntegration(shop).getPayment({ txHash: makeTxHash('a') })
      expect(payment).toMatchObject({ version: 1, state: null, recipient: null, invoice: null, memo: 'a' })
      expect(payment).toMatchObject({ tokenIn: { amount: '10' }, tokenOut: { amountGross: '10', amountNet: '9.98' } })
      expect(await bodies()).toEqual([
        `{"integrationAddress":"${shop}","chainId":"137","txHash":"${makeTxHash('a')}","version":1,"state":null,"recipient":null,"invoice":null}`,
      ])
    })

    it('a payment without an integration is visible to none, and its state is stored', async () => {
      const { service } = await withPayments({ tx: 'a' })
      await expect(service.queries.forIntegration(shop).getPayment({ txHash: makeTxHash('a') })).rejects.toThrow(
        notFound,
      )
      expect((await service.queries.forIntegration(shop).listPayments({})).payments).toEqual([])
      expect(await service.applyUpdate(update('u1', 'a', { state: 'pending' }))).toMatchObject({
        outcome: 'applied',
        version: 2,
      })
      expect(await bodies()).toEqual([])
    })

    it('a payment that names another integration is the same 404 as a missing one', async () => {
      const { service } = await withPayments({ tx: 'a', integrationAddress: other })
      await expect(service.queries.forIntegration(shop).getPayment({ txHash: makeTxHash('a') })).rejects.toThrow(
        notFound,
      )
      await expect(service.queries.forIntegration(shop).getPayment({ txHash: makeTxHash('none') })).rejects.toThrow(
        notFound,
      )
      await expect(
        service.queries.forIntegration(shop).getPayment({ txHash: makeTxHash('a'), wallet: hex('sender', 20) }),
      ).rejects.toThrow(notFound)
    })

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
        paymentListing: await readAll(own.paymentListing(undefined)),
        deliveryListing: await readAll(own.deliveryListing({ ...named, txHash: undefined })),
        endpoint: await own.endpoint(),
        lastFailure: await own.lastFailure(),
        search: await Promise.all([own.search({ kind: 'hash', txHash }), own.search({ kind: 'memo', prefix: '0x61' })]),
      }
      expect(Object.keys(asked).sort()).toEqual(Object.keys(own).sort())
      expect(asked).toMatchObject({ getPayment: 'ERR_PAYMENT_NOT_FOUND', paymentDetail: null, lastFailure: null })
      const text = JSON.stringify(asked)
      expect(text).toContain(makeTxHash('b'))
      for (const foreign of [other, txHash]) expect(text).not.toContain(foreign)
      await expect(own.listPayments({ cursor: nextCursor ?? '' })).rejects.toThrow(
        expect.objectContaining({ code: 'ERR_CURSOR_INVALID' }),
      )
    })

    it('every accepted change adds one version with its own bytes', async () => {
      const { service } = await withPayments({ tx: 'a', integrationAddress: shop })
      const recipient = { title: 'Café', subtitle: null }
      expect(await service.applyUpdate(update('u1', 'a', { state: 'pending', recipient }))).toMatchObject({
        version: 2,
      })
      expect(await service.applyUpdate(update('u2', 'a', { state: 'success' }))).toMatchObject({ version: 3 })
      expect(await service.applyUpdate(update('u3', 'a', { state: 'refund_success' }))).toMatchObject({ version: 4 })
      const sent = (await bodies()).map(
        (body) => JSON.parse(body) as { version: number; state: string; recipient: object },
      )
      expect(sent.map(({ version, state }) => [version, state])).toEqual([
        [1, null],
        [2, 'pending'],
        [3, 'success'],
        [4, 'refund_success'],
      ])
      expect(sent.at(-1)?.recipient).toEqual(recipient)
    })

    it('an update is applied once per id, and the same id with another content is a conflict', async () => {
      const { service } = await withPayments({ tx: 'a', integrationAddress: shop })
      const first = await service.applyUpdate(update('u1', 'a', { state: 'pending' }))
      expect(await service.applyUpdate(update('u1', 'a', { state: 'pending' }))).toEqual(first)
      await expect(service.applyUpdate(update('u1', 'a', { state: 'success' }))).rejects.toThrow(
        expect.objectContaining({ code: 'ERR_UPDATE_CONFLICT' }),
      )
      expect(changes()).toEqual([2])
    })

    it('twenty copies of one update at once make one version', async () => {
      const { service } = await withPayments({ tx: 'a', integrationAddress: shop })
      const copies = Array.from({ length: 20 }, () => service.applyUpdate(update('u1', 'a', { state: 'pending' })))
      expect(new Set((await Promise.all(copies)).map((result) => JSON.stringify(result))).size).toBe(1)
      expect(changes()).toEqual([2])
    })

    it('twenty concurrent updates leave no gap and no duplicate in the versions', async () => {
      const { service } = await withPayments({ tx: 'a', integrationAddress: shop })
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          service.applyUpdate(update(`u${index}`, 'a', { recipient: { title: `Shop ${index}`, subtitle: null } })),
        ),
      )
      const versions = results.map((result) => result.version ?? 0).sort((a, b) => a - b)
      expect(versions).toEqual(Array.from({ length: 20 }, (_, index) => index + 2))
    })

    it('a refused update changes nothing and says why, also when asked again', async () => {
      const { service } = await withPayments({ tx: 'a', integrationAddress: shop })
      await service.applyUpdate(update('u1', 'a', { state: 'refund_success' }))
      const refused = { outcome: 'refused', reason: 'state refund_success cannot become pending', version: 2 }
      expect(await service.applyUpdate(update('u2', 'a', { state: 'pending' }))).toMatchObject(refused)
      expect(await service.applyUpdate(update('u2', 'a', { state: 'pending' }))).toMatchObject(refused)
      expect((await service.queries.forIntegration(shop).getPayment({ txHash: makeTxHash('a') })).version).toBe(2)
    })

    it('updates for a payment that is not indexed yet are kept and applied in order when it is', async () => {
      const chain = scriptedChain(137)
      const service = setup(chain)
      await service.integrations.create({ address: shop, notificationUrl: 'https://shop.example/hook' })
      expect(await service.applyUpdate(update('u1', 'a', { state: 'pending' }))).toMatchObject({
        outcome: 'waiting',
        version: null,
      })
      expect(await service.applyUpdate(update('u2', 'a', { state: 'success' }))).toMatchObject({ outcome: 'waiting' })
      chain.mine([{ tx: 'a', integrationAddress: shop }])
      await indexAll(service)
      expect(await service.queries.forIntegration(shop).getPayment({ txHash: makeTxHash('a') })).toMatchObject({
        version: 3,
        state: 'success',
      })
      expect(await service.applyUpdate(update('u1', 'a', { state: 'pending' }))).toMatchObject({
        outcome: 'applied',
        version: 2,
      })
      expect(await bodies()).toHaveLength(3)
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
        const payment = await service.queries.forIntegration(shop).getPayment({ txHash: makeTxHash(`r${round}`) })
        expect(payment, `round ${round}`).toMatchObject({ version: 2, state: 'success' })
      }
    })

    it('a reorganisation that puts the same payment into another block makes no version and no delivery', async () => {
      const { chain, service } = await withPayments({ tx: 'a', integrationAddress: shop })
      const before = await service.queries.forIntegration(shop).getPayment({ txHash: makeTxHash('a') })
      await service.applyUpdate(update('u1', 'a', { state: 'pending' }))
      chain.mine()
      await indexAll(service)
      chain.drop(2)
      chain.mine()
      const tokenIn = { address: hex('token', 20), symbol: 'WETH', decimals: 2, amount: 1_234n }
      chain.mine([{ tx: 'a', integrationAddress: shop, tokenIn }])
      chain.mine()
      await indexAll(service)
      const after = await service.queries.forIntegration(shop).getPayment({ txHash: makeTxHash('a') })
      expect(after).toMatchObject({ version: 2, state: 'pending', tokenIn: { symbol: 'WETH', amount: '12.34' } })
      expect(after.blockTimestamp).not.toBe(before.blockTimestamp)
      expect(await bodies()).toHaveLength(2)
      expect(events.some((event) => event.type === 'chain.reorganised')).toBe(true)
    })

    it('area (a) shows the first payment of a transaction; the others are kept and reported', async () => {
      const { service } = await withPayments(
        { tx: 'a', ordinal: 0, integrationAddress: shop, receiver: hex('first', 20) },
        { tx: 'a', ordinal: 1, integrationAddress: shop, receiver: hex('second', 20) },
      )
      expect(
        (await service.queries.forIntegration(shop).listPayments({})).payments.map(({ receiver }) => receiver),
      ).toEqual([hex('first', 20)])
      expect(events.filter((event) => event.type === 'payment.additional')).toHaveLength(1)
      expect(await bodies()).toHaveLength(1)
    })

    it('payments of one transaction for two integrations are seen by each alone; an update must say which', async () => {
      const { service } = await withPayments(
        { tx: 'a', ordinal: 0, integrationAddress: shop },
        { tx: 'a', ordinal: 1, integrationAddress: other },
      )
      expect((await service.queries.forIntegration(shop).listPayments({})).payments).toHaveLength(1)
      expect(await service.applyUpdate(update('u1', 'a', { state: 'success' }))).toMatchObject({ outcome: 'refused' })
      const named = update('u2', 'a', { state: 'success', integrationAddress: other.toUpperCase().replace('0X', '0x') })
      expect(await service.applyUpdate(named)).toMatchObject({ outcome: 'applied' })
      expect((await service.queries.forIntegration(shop).getPayment({ txHash: makeTxHash('a') })).state).toBeNull()
      expect((await service.queries.forIntegration(other).getPayment({ txHash: makeTxHash('a') })).state).toBe(
        'success',
      )
    })

    it('an update for an integration that no payment of the transaction has is refused, early or late', async () => {
      const refused = { outcome: 'refused', reason: 'no payment of the transaction names this integrationAddress' }
      const { chain, service } = await withPayments({ tx: 'a', integrationAddress: shop })
      const wrong = (id: string, tx: string) => update(id, tx, { state: 'success', integrationAddress: other })
      expect(await service.applyUpdate(wrong('u1', 'a'))).toMatchObject(refused)
      expect(await service.applyUpdate(wrong('u2', 'b'))).toMatchObject({ outcome: 'waiting' })
      chain.mine([{ tx: 'b', integrationAddress: shop }])
      await indexAll(service)
      expect(await service.applyUpdate(wrong('u2', 'b'))).toMatchObject(refused)
      expect((await service.queries.forIntegration(shop).getPayment({ txHash: makeTxHash('b') })).version).toBe(1)
    })

    it.each([
      ['a misspelt state', { state: 'sucess' }],
      [
        'an amount as a number',
        { invoice: { amount: 12.5, currency: 'EUR', settlementAmount: '1', settlementCurrency: 'USD' } },
      ],
      ['an unknown field', { recepient: null }],
      ['a chain id beyond exact numbers', { chainId: '9999999999999999' }],
    ])('an embedding host that brings %s gets a TypeError, and the payment is untouched', async (_what, change) => {
      const { service } = await withPayments({ tx: 'a', integrationAddress: shop })
      await expect(service.applyUpdate({ ...update('u1', 'a', {}), ...change } as never)).rejects.toThrow(TypeError)
      expect(await service.applyUpdate(update('u1', 'a', { state: 'pending' }))).toMatchObject({ version: 2 })
    })

    it('of two concurrent rotations of an API secret one is rejected, and every returned secret works', async () => {
      const { service } = await withPayments()
      await service.integrations.create({ address: other })
      for (let pair = 0; pair < 4; pair += 1) {
        const rotations = await Promise.allSettled(
          [1, 2].map(() => service.integrations.rotateApiSecret(other, { graceMs: 60_000 })),
        )
        const won = rotations.flatMap((rotation) => (rotation.status === 'fulfilled' ? [rotation.value.apiSecret] : []))
        const lost = rotations.flatMap((rotation) => (rotation.status === 'rejected' ? [rotation.reason] : []))
        expect(won.length).toBeGreaterThan(0)
        expect(lost.every((error) => error.code === 'ERR_INTEGRATION_CHANGED')).toBe(true)
        for (const secret of won)
          expect(
            await service.authenticate(`Basic ${Buffer.from(`${other}:${secret}`).toString('base64')}`),
          ).not.toBeNull()
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

    it('one hash on two destination chains is ambiguous until a wallet narrows it', async () => {
      const [polygon, gnosis] = [scriptedChain(137), scriptedChain(100)]
      const service = setup(polygon, gnosis)
      polygon.mine([{ tx: 'a', integrationAddress: shop, sender: hex('alice', 20) }])
      gnosis.mine([{ tx: 'a', integrationAddress: shop, sender: hex('bob', 20) }])
      await indexAll(service)
      const query = { txHash: makeTxHash('a') }
      const ambiguous = expect.objectContaining({ code: 'ERR_PAYMENT_AMBIGUOUS' })
      await expect(service.queries.forIntegration(shop).getPayment(query)).rejects.toThrow(ambiguous)
      expect(
        (await service.queries.forIntegration(shop).getPayment({ ...query, wallet: hex('bob', 20) })).chainId,
      ).toBe('100')
      // Both chains paid the same receiver, so this wallet does not narrow the result.
      await expect(
        service.queries.forIntegration(shop).getPayment({ ...query, wallet: hex('receiver', 20) }),
      ).rejects.toThrow(ambiguous)
    })

    it('a walk over the pages stays complete while newer payments arrive', async () => {
      const chain = scriptedChain(137)
      const service = setup(chain)
      for (let block = 0; block < 30; block += 1) chain.mine([{ tx: `old${block}`, integrationAddress: shop }])
      await indexAll(service)
      const seen: string[] = []
      let cursor: string | undefined
      do {
        const page = await service.queries.forIntegration(shop).listPayments({ limit: '7', cursor })
        seen.push(...page.payments.map(({ memo }) => memo))
        cursor = page.nextCursor ?? undefined
        chain.mine([{ tx: `new${seen.length}`, integrationAddress: shop }])
        await indexAll(service)
      } while (cursor !== undefined)
      expect(seen).toEqual(Array.from({ length: 30 }, (_, index) => `old${29 - index}`))
    })

    it('a walk over the pages stays complete while a reorganisation turns the order of its payments', async () => {
      const chain = scriptedChain(137)
      const service = setup(chain)
      const blocks = Array.from({ length: 12 }, (_, block) => `old${block}`)
      const mine = (names: readonly string[]) => {
        for (const tx of names) chain.mine([{ tx, integrationAddress: shop }])
      }
      mine(blocks)
      await indexAll(service)
      const first = await service.queries.forIntegration(shop).listPayments({ limit: '4' })
      chain.drop(12)
      mine([...blocks].reverse())
      mine(['new'])
      await indexAll(service)
      expect(events.some((event) => event.type === 'chain.reorganised')).toBe(true)
      const seen = first.payments.map(({ memo }) => memo)
      for (let cursor = first.nextCursor; cursor !== null; ) {
        const page = await service.queries.forIntegration(shop).listPayments({ limit: '4', cursor })
        expect(page.payments).toHaveLength(4)
        seen.push(...page.payments.map(({ memo }) => memo))
        cursor = page.nextCursor
      }
      expect(seen).toEqual([...blocks].reverse())
      const again = await service.queries.forIntegration(shop).listPayments({})
      expect(again.payments.map(({ memo }) => memo)).toEqual(['new', ...blocks])
    })

    it('a page of exactly the last rows has no next cursor', async () => {
      const { service } = await withPayments({ tx: 'a', integrationAddress: shop })
      expect((await service.queries.forIntegration(shop).listPayments({ limit: '1' })).nextCursor).toBeNull()
    })

    it('a wallet page shows both directions, once each, and only of this integration', async () => {
      const alice = hex('alice', 20)
      const { service } = await withPayments(
        { tx: 'out', integrationAddress: shop, sender: alice },
        { tx: 'in', integrationAddress: shop, receiver: alice },
        { tx: 'self', integrationAddress: shop, sender: alice, receiver: alice },
        { tx: 'none', integrationAddress: shop },
        { tx: 'foreign', integrationAddress: other, sender: alice },
      )
      const page = await service.queries
        .forIntegration(shop)
        .listPayments({ wallet: `0x${alice.slice(2).toUpperCase()}` })
      expect(page.payments.map(({ memo }) => memo).sort()).toEqual(['in', 'out', 'self'])
    })

    it('a second indexer of the same chain repeats nothing', async () => {
      const chain = scriptedChain(137)
      const [one, two] = [setup(chain), setup(chain)]
      await one.integrations.create({ address: shop, notificationUrl: 'https://shop.example/hook' })
      for (let block = 0; block < 20; block += 1) chain.mine([{ tx: `p${block}`, integrationAddress: shop }])
      await Promise.all([indexAll(one), indexAll(two)])
      expect(events.filter((event) => event.type === 'payment.indexed')).toHaveLength(20)
      expect(await bodies()).toHaveLength(20)
    })

    it('no plain secret reaches the store', async () => {
      const { service } = await withPayments()
      const issued = await service.integrations.create({ address: other, notificationUrl: 'https://other.example/' })
      const stored = JSON.stringify(await openStore().integrations.find(other))
      expect(stored).not.toContain(issued.apiSecret)
      expect(stored).not.toContain(issued.signingSecret)
      await expect(service.integrations.create({ address: other })).rejects.toThrow(
        expect.objectContaining({ code: 'ERR_INTEGRATION_EXISTS' }),
      )
      await expect(service.integrations.setEnabled(hex('nobody', 20), true)).rejects.toThrow(
        expect.objectContaining({ code: 'ERR_INTEGRATION_NOT_FOUND' }),
      )
    })
  })
}
