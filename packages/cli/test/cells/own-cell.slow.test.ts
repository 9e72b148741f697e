import type { ProcessorUpdate } from '@payment-integration/contract'
import type { UnrecordedRange } from '@payment-integration/core/internal'
import type { BridgeDeposit, Fulfillment } from '@payment-integration/core/ports'
import { afterEach, describe, expect, test } from 'vitest'
import { postgresMissing } from '../../../store-sql/test/postgres.js'
import { hex, makeTxHash, type ScriptedPayment, scriptedChain } from '../../../store-sql/test/support/scripted-chain.js'
import { openGzipFile } from '../../src/archive.js'
import { seededFraction } from '../../src/dev/clients.js'
import { type Cell, type Database, indexAll, openCell } from './cell.js'
import { shop, twoCells } from './two-cells.js'

const chainId = 137
const [early, late, foreign] = ['early', 'late', 'foreign'].map((name) => hex(name, 20)) as [string, string, string]
const confirmations = 8
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const fillHash = (txHash: string, ordinal: number) => hex(`fill ${txHash} ${ordinal}`, 32)

/** A fill of every deposit, in a transaction of its own on the destination chain. */
const lookup = async ({ payment, destinationChainId, receiver, output }: BridgeDeposit): Promise<Fulfillment> => ({
  ...{ chainId: destinationChainId, txHash: fillHash(payment.txHash, payment.ordinal) },
  ...{ logIndex: 3, position: 3, blockNumber: 9, blockHash: hex('block 9', 32) },
  ...{ blockTimestamp: 1_700_000_000_000, receiver },
  ...{ tokenOut: { ...payment.tokenOut, address: output.token, amount: output.amount }, listedToken: null },
})

type Scripted = ReturnType<typeof scriptedChain>

async function open(database: Database, chain: Scripted, recording: 'all' | 'own'): Promise<Cell> {
  const cell = await openCell(database, chain, Date, { recording, confirmations, fulfillments: { lookup } })
  closing.push(cell.close)
  return cell
}

/** Everything that a cell knows of an integration's payments, by chain, transaction and ordinal. */
async function getHistory({ store }: Cell, address: string) {
  const rows: [string, unknown][] = []
  for await (const page of store.moves?.payments(address) ?? [])
    for (const { chainId: id, txHash, ordinal, versions, ...payment } of page)
      rows.push([
        `${id}:${txHash}:${ordinal}`,
        { ...payment, versions: versions.map(({ version, body }) => ({ version, body })) },
      ])
  return Object.fromEntries(rows.sort(([a], [b]) => (a < b ? -1 : 1)))
}

const create = ({ service }: Cell, address: string) =>
  service.integrations.create({ address, notificationUrl: 'http://127.0.0.1:9/' })

async function reindex({ service }: Cell, ranges: readonly UnrecordedRange[]) {
  let differences = 0
  for (const { chainId: id, from, to } of ranges)
    for await (const report of service.chains.reindex({ chainId: id, from, to, repair: true }))
      differences += report.differences.length
  return differences
}

/**
 * Payments, deposits, reorgs and updates at random, in a cell that records all and one that records its own.
 * The integration `late` is registered halfway.
 */
async function walk(database: Database, seed: number) {
  const random = seededFraction(seed)
  const pick = <T>(values: readonly T[]) => values[Math.floor(random() * values.length)] as T
  const chain = scriptedChain(chainId)
  const all = await open(database, chain, 'all')
  const cell = await open(database, chain, 'own')
  const cells = [all, cell]
  for (const cell of cells) await create(cell, early)
  /** The payments of each block above the first. */
  const blocks: ScriptedPayment[][] = []
  const rejected: ProcessorUpdate[] = []
  let payments = 0
  let isLate = false

  const makePayments = () =>
    Array.from({ length: Math.floor(random() * 3) }, () => {
      payments += 1
      const tx = `${seed} ${payments}`
      const to = random() < 0.2 ? 10 : undefined
      return Array.from({ length: random() < 0.3 ? 2 : 1 }, (_, ordinal) => ({
        ...{ tx, ordinal, integrationAddress: pick([early, late, foreign, null]) },
        ...(to === undefined ? {} : { to }),
      }))
    }).flat()
  const mine = (payments: ScriptedPayment[]) => {
    blocks.push(payments)
    chain.mine(payments)
  }
  function reorganize() {
    const depth = Math.min(blocks.length, 1 + Math.floor(random() * (confirmations - 2)))
    if (depth === 0) return
    const orphaned = blocks.splice(-depth).flat()
    chain.drop(depth)
    // A payment that a cell dropped and restored has more versions than one that it read once.
    const staying = new Set(orphaned.flatMap((each) => (each.integrationAddress === late && !isLate ? each.tx : [])))
    for (const { tx } of orphaned) if (random() < 0.8) staying.add(tx)
    const returning = orphaned.filter(({ tx }) => staying.has(tx))
    for (let block = 0; block <= depth; block += 1) {
      const transactions = new Set(returning.filter(() => block === depth || random() < 0.5).map(({ tx }) => tx))
      mine(returning.filter(({ tx }) => transactions.has(tx)))
      returning.splice(0, returning.length, ...returning.filter(({ tx }) => !transactions.has(tx)))
    }
  }
  async function update(id: string) {
    const payment = pick(blocks.flat())
    if (payment === undefined || payment.to !== undefined || payment.integrationAddress === null) return
    const state = pick(['pending', 'success', 'failure', 'refund_pending'] as const)
    const sent = {
      ...{ id, chainId: String(chainId), txHash: makeTxHash(payment.tx), state },
      integrationAddress: payment.integrationAddress ?? '',
    }
    await all.service.applyUpdate(sent)
    const { outcome, reason } = await cell.service.applyUpdate(sent)
    if (outcome === 'rejected' && reason?.includes('does not have the integration')) rejected.push(sent)
  }
  async function index() {
    for (const cell of cells) {
      await cell.index()
      await cell.service.fulfillments?.runOnce()
    }
  }
  async function register() {
    await index()
    isLate = true
    await create(all, late)
    const { unrecorded } = await create(cell, late)
    await reindex(cell, unrecorded)
    expect(await reindex(cell, unrecorded)).toBe(0)
    for (const sent of rejected) await cell.service.applyUpdate(sent)
  }

  for (let step = 0; step < 40; step += 1) {
    const roll = random()
    if (step === 20) await register()
    else if (roll < 0.5) mine(makePayments())
    else if (roll < 0.6) reorganize()
    else if (roll < 0.8) await update(`${seed}-${step}`)
    else await index()
  }
  for (let block = 0; block <= confirmations; block += 1) mine([])
  await index()
  await index()
  for (const address of [early, late]) expect(await getHistory(cell, address)).toEqual(await getHistory(all, address))
  for (const { tx, ordinal = 0, to } of blocks.flat()) {
    const txHash = to === undefined ? makeTxHash(tx) : fillHash(makeTxHash(tx), ordinal)
    const { payments } = await cell.store.payments.transaction({ chainId: to ?? chainId, txHash })
    for (const { integrationAddress } of payments) expect([early, late]).toContain(integrationAddress)
  }
  const skipped = cell.events.flatMap((event) => (event.type === 'payments.skipped' ? event.count : []))
  return { rows: Object.keys(await getHistory(cell, late)).length, skipped: skipped.reduce((sum, n) => sum + n, 0) }
}

describe.each(['SQLite', 'PostgreSQL'] as const)('a cell that records its own integrations, on %s', (database) => {
  const needs = test.skipIf(database === 'PostgreSQL' && postgresMissing !== null)

  needs('has of them what a cell with all payments has, of one registered later too', async () => {
    let rows = 0
    let skipped = 0
    for (let seed = 1; seed <= (database === 'SQLite' ? 12 : 1); seed += 1) {
      const counts = await walk(database, seed)
      rows += counts.rows
      skipped += counts.skipped
    }
    // Without them the walk would prove nothing.
    expect(rows).toBeGreaterThan(2)
    expect(skipped).toBeGreaterThan(2)
  })

  needs('loses no payment of an integration that registers while blocks are indexed', async () => {
    const chain = scriptedChain(chainId)
    const cell = await open(database, chain, 'own')
    const names: string[] = []
    const pay = (integrationAddress: string) => {
      names.push(`paid ${names.length}`)
      chain.mine([{ tx: names.at(-1) ?? '', integrationAddress }])
    }
    const addresses = Array.from({ length: 8 }, (_, n) => hex(`racing ${n}`, 20))
    for (const address of addresses) {
      const unrecorded = create(cell, address).then((created) => created.unrecorded)
      for (let block = 0; block < 5; block += 1) {
        pay(address)
        await cell.index()
      }
      await reindex(cell, await unrecorded)
      expect(Object.keys(await getHistory(cell, address))).toHaveLength(5)
    }
  })
})

test('a reindex gives a moved integration its history: no delivery or waiting update is lost or repeated', async () => {
  const cells = await twoCells('SQLite', 'SQLite', { recording: 'own' })
  const { source, target } = cells
  await cells.payTo(foreign, 'other')
  await cells.pay('delivered', 'pending')
  await source.service.applyUpdate(cells.update('u1', 'delivered', { state: 'success' }))
  await source.service.applyUpdate(cells.update('w', 'awaited', { state: 'success' }))
  cells.rejected.add(makeTxHash('pending'))
  await source.deliver()
  const { path } = await cells.export()
  await cells.pay('between')
  expect(await getHistory(target, shop)).toEqual({})

  const read = () => target.service.moves.import(openGzipFile(path))
  const error = await read().catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'ERR_MOVE_UNRECORDED', unrecorded: [{ chainId, from: 2, to: 3 }] })
  await expect(read()).rejects.toMatchObject({ code: 'ERR_MOVE_PAYMENT_MISSING' })
  await cells.pay('recorded')
  await reindex(target, (error as { unrecorded: readonly UnrecordedRange[] }).unrecorded)
  expect(await read()).toMatchObject({ payments: 2 })
  await cells.pay('awaited')
  const { payments } = await target.store.payments.transaction({ chainId, txHash: makeTxHash('awaited') })
  expect(payments).toMatchObject([{ version: 2, state: 'success' }])

  cells.rejected.clear()
  cells.pass(24 * 3_600_000)
  await target.deliver()
  expect(await source.deliver()).toBe(0)
  const names = ['awaited', 'delivered', 'pending', 'between', 'recorded']
  const sent = ['between@1', 'delivered@1', 'delivered@2', 'pending@1', 'recorded@1']
  expect(cells.keys(names)).toEqual(['awaited@1', 'awaited@2', ...sent])
})

test('an update that names no integration of the cell leaves no record, and applies once that is there', async () => {
  const chain = scriptedChain(chainId)
  const cell = await open('SQLite', chain, 'own')
  chain.mine([{ tx: 'a', integrationAddress: late }])
  const { service } = cell
  const sent = { id: 'u', chainId: String(chainId), txHash: makeTxHash('a'), state: 'success' } as const
  const named = { ...sent, integrationAddress: late }
  const reason = expect.stringContaining('name one in integrationAddress')
  expect(await service.applyUpdate(sent)).toMatchObject({ outcome: 'rejected', reason })
  expect(await service.applyUpdate(named)).toMatchObject({ outcome: 'rejected', version: null })
  await create(cell, late)
  await cell.index()
  expect(await service.applyUpdate(named)).toMatchObject({ outcome: 'applied', version: 2 })
  expect(await service.applyUpdate(named)).toMatchObject({ outcome: 'applied', version: 2 })
})

test('a stored payment of another integration follows a reorg, and no reindex takes it off the chain', async () => {
  const chain = scriptedChain(chainId)
  const all = await open('SQLite', chain, 'all')
  chain.mine([{ tx: 'kept', integrationAddress: foreign }])
  chain.mine([{ tx: 'moved', integrationAddress: foreign }])
  await all.index()
  const leases = { ...all.store.leases, acquire: async () => true }
  const ownService = all.serviceOn({ ...all.store, leases }, 'own')
  chain.drop(1)
  chain.mine()
  chain.mine(['moved', 'new'].map((tx) => ({ tx, integrationAddress: foreign })))
  await indexAll(ownService)
  for await (const { differences } of ownService.chains.reindex({ chainId, from: 0, repair: true }))
    expect(differences).toEqual([])
  const read = async (tx: string) => {
    const { payments } = await all.store.payments.transaction({ chainId, txHash: makeTxHash(tx) })
    return payments.map(({ blockNumber, offChain }) => [blockNumber, offChain])
  }
  expect([await read('kept'), await read('moved'), await read('new')]).toEqual([[[1, false]], [[3, false]], []])
})
