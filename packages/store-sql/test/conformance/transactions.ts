/** Tests: a transaction is all or nothing. @module */
import type { AccountEvent, StoreTransaction } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import { expect } from 'vitest'
import { auditRecord } from './audit.js'
import * as fixtures from './fixtures.js'
import { share, verdict } from './identity-logs.js'
import { direct, ensure, getEmail, redeem, redemption } from './identity-steps.js'
import { legacyKey } from './legacy-keys.js'
import { operator } from './operators.js'
import { getSession, hashOf } from './sessions.js'
import type { StoreTest } from './subject.js'

const { deposit, epoch, facts, findUpdate, getStatus, hash, indexPayments, insertUpdate, integration } = fixtures
const { listed, lockPayment, makeBody, makeSnapshot, otherShop, primary, setStatus, shop, waiting } = fixtures

/** One of each operation that writes, in an order in which each may follow those before it. */
const operations: readonly ((tx: StoreTransaction, depositId: string) => Promise<unknown>)[] = [
  (tx) => tx.lockChain(1),
  (tx) => tx.upsertPayments([primary({ txHash: hash(2) }), primary({ blockNumber: 101, blockHash: hash(0xb101) })]),
  async (tx) => setStatus(tx, (await lockPayment(tx, hash(1))).id, getStatus(2, { state: 'success' })),
  async (tx) => tx.insertSnapshots([makeSnapshot(await lockPayment(tx, hash(1)), 2)]),
  async (tx) => {
    const { id: paymentId } = await lockPayment(tx, hash(1))
    await insertUpdate(tx, { ...waiting(), paymentId, outcome: 'applied', version: 2 })
    await tx.settleUpdates([{ id: 'w', paymentId, outcome: 'rejected', reason: 'test', version: 1 }])
  },
  (tx) => tx.setCheckpoint(1, { blockNumber: 99, blockHash: hash(0xf099) }),
  (tx) => tx.upsertDeposits([deposit(), deposit({ txHash: hash(3) })]),
  (tx) => tx.addProof(1, { from: 95, to: 101, proof: 'root', node: 'b' }),
  (tx) => tx.setCoverage(1, { router: 'r', from: 90, to: null }),
  async (tx) => {
    const [payment] = await tx.paymentsInBlocks(1, 100, 100)
    await tx.markOffChain([payment?.id ?? ''])
    await tx.setDropped(payment?.id ?? '', { formerState: 'success' })
  },
  (tx, depositId) => tx.settleDeposit(depositId),
  (tx) => tx.setCheckpoint(1, { blockNumber: 101, blockHash: hash(0xb101) }),
  (tx) => tx.replayDeliveries({ limit: 1 }),
  async ({ integrations, accounts, legacyKeys, dataKeys }) => {
    await integrations.insert(integration({ address: otherShop }))
    await integrations.update(shop, { name: 'New' })
    await accounts.insert(account)
    await legacyKeys.insert(legacyKey())
    await dataKeys.replace('email', dataKey, { keyVersion: 2, sealed: 'new' })
  },
  async ({ operators, operatorSessions, integrationSessions }) => {
    await operators.insert(operator({ name: 'bob', link: null }))
    await operators.update(operator().name, { role: 'admin', link: null })
    await operatorSessions.deleteByOwner(operator().name)
    await integrationSessions.deleteByOwner(shop)
  },
  async (tx) => {
    await tx.lockAudit()
    await tx.appendAudit(auditRecord(1))
  },
  async ({ identity }) => {
    await identity.lockPersons({ subjectId: 'subject 1' })
    await identity.setOwner('subject 1', { accountId: 'account', proved: true })
    await identity.changeVerification('subject 1', { applicantId: 'applicant', pollInMs: 0 })
    await identity.addRedemption(redemption('subject 1', 2))
    await identity.changeRedemption('subject 1:1', { state: 'absent' })
  },
  async ({ identity }) => {
    await identity.ensureSubject(getEmail(2), 'second')
    await identity.insertSubject(direct('third', 'other'))
    await identity.logShare(share())
    await identity.recordVerdict(verdict())
    await identity.recordEvent('event', epoch)
  },
  async ({ identity, identityAccounts }) => {
    await identity.lockPersons({ emailKey: getEmail(1).key, accountIds: ['account'] })
    await identityAccounts.register(getEmail(3), 'registered')
    await identityAccounts.setProvedOwner(getEmail(1), 'account')
    await identityAccounts.setCode(getEmail(1).key, null)
    await identityAccounts.log(accountEvent)
  },
]

const account = { handle: 'new', address: shop, config: { coins: [] }, createdAt: epoch }
const dataKey = { keyVersion: 1, sealed: 'sealed' }
const accountEvent: AccountEvent = {
  ...{ at: epoch, action: 'registered', emailKey: getEmail(3).key, accountId: 'registered' },
  ...{ proof: null, by: null, reason: null },
}

/** @returns The id of a deposit that waits. */
async function prepare(store: Store): Promise<string> {
  await fixtures.insertIntegration(store)
  await store.transaction(async (tx) => {
    await tx.lockChain(1)
    await indexPayments(tx, [primary()])
    await tx.setCheckpoint(1, { blockNumber: 99, blockHash: hash(0xb099) })
    await tx.setCheckpoint(1, { blockNumber: 100, blockHash: hash(0xb100) })
    await insertUpdate(tx, waiting({ id: 'w', txHash: hash(9) }))
    await tx.upsertDeposits([deposit({ txHash: hash(4) })])
    await tx.addProof(1, { from: 90, to: 100, proof: 'bloom', node: 'a' })
    await tx.setCoverage(1, { router: 'r', from: 90, to: 99 })
    await tx.operators.insert(operator())
    await tx.operatorSessions.insert({ hash: hashOf(1), operator: operator().name, createdAt: epoch, expiresAt: epoch })
    await tx.integrationSessions.insert(getSession(1))
    await tx.identityAccounts.setCode(getEmail(1).key, { hash: hashOf(1), expiresAt: epoch, triesLeft: 5 })
  })
  await store.dataKeys.obtain('email', dataKey)
  await ensure(store, 1)
  await redeem(store, redemption('subject 1', 1))
  return (await store.chains.waitingDeposits({ limit: 1 }))[0]?.id ?? ''
}

/** Everything the port lets one read. */
async function contents(store: Store) {
  const [first] = await store.payments.findByHash({ integrationAddress: shop, txHash: hash(1) })
  const inside = await store.transaction(async (tx) => ({
    checkpoints: await tx.checkpoints(1, 1_000, 10),
    update: await findUpdate(tx, 'update-1'),
    waiting: await tx.waitingUpdates([{ chainId: 1, txHash: hash(9) }]),
    dataKeys: await tx.dataKeys.list(),
    code: await tx.identityAccounts.lockCode(getEmail(1).key),
    owners: await Promise.all([1, 3].map((n) => tx.identityAccounts.findAddressOwner(getEmail(n).key))),
  }))
  const all = { limit: 100 }
  return {
    ...inside,
    payments: await listed(store),
    snapshot: await store.payments.snapshot(first?.id ?? '0', 2),
    deliveries: await store.deliveries.list({ limit: 100 }),
    checkpoint: await store.payments.checkpoint(1),
    proofs: await store.chains.proofs(1, 10),
    coverage: await store.chains.coverage(1),
    deposits: await store.chains.waitingDeposits({ limit: 10 }),
    integrations: await store.integrations.list(),
    accounts: await store.accounts.list(),
    legacyKeys: await store.legacyKeys.list(),
    operators: await store.operators.list(),
    sessions: [await store.operators.findSession(hashOf(1)), await store.integrations.findSession(hashOf(1))],
    audit: await store.audit.list(all),
    subjects: await store.identity.subjects(all),
    redemptions: await store.identity.redemptions(all),
    logs: [await store.identity.shares(all), await store.identity.verdicts(all)],
    accountEvents: await store.identity.accountEvents(all),
    polls: await store.identity.duePolls(10),
    recorded: await store.identity.forgetEvents(epoch + 1, 10),
  }
}
export function transactionTests(test: StoreTest): void {
  test('all operations together are kept', async ({ store }) => {
    const depositId = await prepare(store)
    await store.transaction(async (tx) => {
      for (const operation of operations) await operation(tx, depositId)
    })
    const kept = await contents(store)
    expect(kept.payments).toMatchObject([
      { txHash: hash(2), version: 1, blockNumber: 100, offChain: true, dropped: { formerState: 'success' } },
      { txHash: hash(1), version: 2, blockNumber: 101, offChain: false, dropped: null },
    ])
    expect(kept.snapshot).not.toBeNull()
    expect(kept.deliveries).toHaveLength(2)
    expect(kept.update?.outcome).toBe('applied')
    expect(kept.waiting).toEqual([])
    expect(kept.proofs).toEqual([
      { from: 95, to: 101, proof: 'root', node: 'b' },
      { from: 90, to: 94, proof: 'bloom', node: 'a' },
    ])
    expect(kept.coverage).toEqual([{ router: 'r', from: 90, to: null }])
    expect(kept.deposits.map(({ deposit: each }) => each.payment.txHash)).toEqual([hash(1), hash(3)])
    expect(kept.checkpoints.map(({ blockNumber }) => blockNumber)).toEqual([101, 99])
    const { integrations, accounts, legacyKeys, operators, audit, logs, accountEvents, polls, recorded } = kept
    const lengths = [integrations, accounts, legacyKeys, operators, audit, ...logs, accountEvents, polls]
    expect([...lengths.map((rows) => rows.length), recorded]).toEqual([2, 1, 1, 2, 1, 1, 1, 1, 1, 1])
    expect([kept.sessions, kept.code, kept.dataKeys]).toMatchObject([[null, null], null, [{ key: { sealed: 'new' } }]])
    expect(kept.subjects.map(({ id }) => id)).toEqual(['second', 'subject 1', 'third'])
    expect(kept.redemptions.map(({ state }) => state)).toEqual(['in_flight', 'absent'])
    expect(kept.owners).toMatchObject([{ accountId: 'account' }, { accountId: 'registered' }])
  })

  for (let count = 0; count <= operations.length; count += 1)
    test(`an error after ${count} operations leaves nothing of them`, async ({ store }) => {
      const depositId = await prepare(store)
      const before = await contents(store)
      const error = new Error('the work fails here')
      const transaction = store.transaction(async (tx) => {
        for (const operation of operations.slice(0, count)) await operation(tx, depositId)
        throw error
      })
      await expect(transaction).rejects.toBe(error)
      expect(await contents(store)).toEqual(before)
    })

  test('work that catches the error of an operation stores nothing and rejects', async ({ store }) => {
    await prepare(store)
    const before = await contents(store)
    const [payment] = before.payments
    const transaction = store.transaction(async (tx) => {
      await tx.upsertPayments([primary({ txHash: hash(2) })])
      if (payment === undefined) throw new Error('The payment is not stored.')
      await tx.insertSnapshots([makeSnapshot(payment, 1, makeBody('x', 1))]).catch(() => undefined)
      return 'as if nothing had happened'
    })
    await expect(transaction).rejects.toThrow()
    expect(await contents(store)).toEqual(before)
  })

  test('a transaction reads the integrations, accounts and keys that it wrote', async ({ store }) => {
    const found = await store.transaction(async ({ integrations, accounts, legacyKeys }) => {
      await integrations.insert(integration())
      await accounts.insert(account)
      await legacyKeys.insert(legacyKey())
      return [
        await integrations.find(shop),
        await integrations.list(),
        await accounts.find('new'),
        await legacyKeys.list(),
      ]
    })
    expect(found).toEqual([integration(), [integration()], account, [legacyKey()]])
  })

  test('a read during an open transaction sees nothing of it', async ({ store }) => {
    let reading: Promise<unknown> | undefined
    const undone = store.transaction(async (tx) => {
      await tx.upsertPayments([{ facts: facts(), primary: true }])
      // Not awaited in here: an adapter may let reads wait for the transaction's end.
      reading = listed(store)
      await Promise.race([reading, new Promise((resolve) => setImmediate(resolve))])
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    expect(await reading).toEqual([])
  })
}
