import { expect, test } from 'vitest'
import { onBothDatabases } from '../../test/support/both-databases.js'
import { noting } from '../../test/support/engines.js'
import { makeTxHash, scriptedChain } from '../../test/support/scripted-chain.js'
import { formatOutcome, shop, update, useCaseSetup } from '../../test/support/use-case-setup.js'
import { createStore } from '../create-store.js'
import type { Engine } from '../engine.js'

onBothDatabases((empty, database) => {
  let statements = 0
  let engine: Engine
  const open = async () => {
    engine = await empty()
    // Renewals of the lease are not counted: their number depends on the time that a test takes.
    const { leases } = createStore(engine)
    const store = { ...createStore(noting(engine, () => (statements += 1))), leases }
    await store.migrate()
    return { store, close: async () => undefined }
  }
  const { events, setup, indexAll } = useCaseSetup(open)
  const rows = () => engine.read.selectFrom('updates').selectAll().orderBy('seq').execute()

  const onChain = (chain = scriptedChain(137)) => ({ chain, service: setup(chain) })

  /** Indexes payments for which two updates wait each; those of the second half cannot follow each other. */
  async function indexWaiting({ chain, service }: ReturnType<typeof onChain>, prefix: string, payments: number) {
    const names = Array.from({ length: payments }, (_, n) => `${prefix}${n}`)
    const round = (id: string, states: readonly [string, string]) =>
      names.map((tx, n) => update(`${id}-${tx}`, tx, { state: states[n < payments / 2 ? 0 : 1] }))
    const updates = [...round('first', ['pending', 'success']), ...round('second', ['success', 'pending'])]
    const received = await service.applyUpdates(updates)
    expect(received.every((one) => one.status === 'fulfilled' && one.value.outcome === 'waiting')).toBe(true)
    chain.mine(names.map((tx) => ({ tx, integrationAddress: shop })))
    statements = 0
    events.length = 0
    await indexAll(service)
    expect(events.filter(({ type }) => type === 'payment.indexed')).toHaveLength(payments)
    return { names, updates, sent: statements }
  }

  test('1,000 updates that wait for 500 payments are applied by as many statements as 20', async () => {
    const own = onChain()
    await indexWaiting(own, 'first', 10)
    const few = await indexWaiting(own, 'few', 10)
    const { sent } = await indexWaiting(own, 'many', 500)
    expect(few.sent).toBeGreaterThan(10)
    // A statement of SQLite has at most 256 rows.
    if (database === 'SQLite') expect(sent).toBeLessThan(few.sent + 30)
    else expect(sent).toBe(few.sent)
  })

  test('of two waiting updates of a payment the one received first is applied first', async () => {
    const own = onChain()
    const { names, updates } = await indexWaiting(own, 'p', 40)
    const answers = await own.service.applyUpdates(updates)
    const expected = [...Array(40).fill('applied 2'), ...Array(20).fill('applied 3'), ...Array(20).fill('rejected 2')]
    expect(answers.map(formatOutcome)).toEqual(expected)
    const settled = events.flatMap((event) => (event.type === 'update.settled' ? [event.updateId] : []))
    expect(settled).toEqual(updates.map(({ id }) => id))
    const changed = events.flatMap((event) =>
      event.type === 'payment.changed' ? [`${event.txHash} ${event.version} ${event.from} ${event.to}`] : [],
    )
    expect(changed).toEqual([
      ...names.map((tx, n) => `${makeTxHash(tx)} 2 null ${n < 20 ? 'pending' : 'success'}`),
      ...names.slice(0, 20).map((tx) => `${makeTxHash(tx)} 3 pending success`),
    ])
  })

  test('the content of an update is stored while it waits and if it was rejected, its transaction only while it waits', async () => {
    const { chain, service } = onChain()
    const sent = (['success', 'pending', 'success'] as const).map((state, n) => update(`u${n}`, 'a', { state }))
    await service.applyUpdates(sent)
    const kept = async () =>
      (await rows()).map(({ outcome, body, payment_id, chain_id, tx_hash, fingerprint }) => {
        const isNamed = [payment_id, chain_id, tx_hash].map((value) => value !== null)
        return [outcome, body === null ? null : JSON.parse(body), ...isNamed, fingerprint.length]
      })
    expect(await kept()).toEqual(sent.map((each) => ['waiting', each, false, true, true, 16]))
    chain.mine([{ tx: 'a', integrationAddress: shop }])
    await indexAll(service)
    const late = update('late', 'a', { state: 'pending' })
    await service.applyUpdates([update('known', 'a', { state: 'success' }), late])
    expect(await kept()).toEqual([
      ['applied', null, true, false, false, 16],
      ['rejected', sent[1], true, false, false, 16],
      ['unchanged', null, true, false, false, 16],
      ['unchanged', null, true, false, false, 16],
      ['rejected', late, true, false, false, 16],
    ])
  })
})
