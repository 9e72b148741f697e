import type { EndpointJudge } from '@payment-integration/core/internal'
import { expect, test } from 'vitest'
import { deferred } from '../../../core/test/support/until.js'
import * as fixtures from '../../test/conformance/fixtures.js'
import { lockIsAwaited, onPostgres } from '../../test/support/on-postgres.js'

const { answered, failed, hash, indexed, indifferent } = fixtures
const chainId = 137

onPostgres('the row of a chain', ({ admin, openMigrated }) => {
  test('is not shared past an indexer that waits for it, so updates without a pause never starve the indexer', async () => {
    const store = await openMigrated()
    // The first transaction inserts the row.
    await store.transaction((tx) => tx.lockChain(chainId))
    const granted: string[] = []
    const waiting = (count: number) => lockIsAwaited((text) => admin().query(text), count)
    const [shared, release] = [deferred(), deferred()]
    const first = store.transaction(async (tx) => {
      await tx.shareChain(chainId)
      granted.push('an update')
      shared.resolve()
      await release.promise
    })
    await shared.promise
    const indexer = store.transaction(async (tx) => {
      await tx.lockChain(chainId)
      granted.push('the indexer')
    })
    await waiting(1)
    const second = store.transaction(async (tx) => {
      await tx.shareChain(chainId)
      granted.push('another update')
    })
    await waiting(2).finally(() => release.resolve())
    await Promise.all([first, indexer, second])
    expect(granted).toEqual(['an update', 'the indexer', 'another update'])
  })
})

onPostgres('rows that somebody else locks', ({ connect, open, openMigrated }) => {
  test('are deliveries that a claim goes past, without waiting', async () => {
    const [holder, store] = [await connect(), await openMigrated({ schema: 'held' })]
    for (const n of [1, 2, 3]) await indexed(store, { txHash: hash(n) })
    await holder.query('begin')
    await holder.query('select 1 from held.outbox order by id limit 1 for update')
    const claims = await store.deliveries.claim({ limit: 1, leaseMs: 60_000 })
    expect(claims.map(({ txHash }) => txHash)).toEqual([hash(2)])
    await holder.query('rollback')
    const rest = await store.deliveries.claim({ limit: 5, leaseMs: 60_000 })
    expect(rest.map(({ txHash }) => txHash)).toEqual([hash(1), hash(3)])
  })

  test('are a delivery or an endpoint that keeps a settle of others from nothing', async () => {
    // A settle that waits ends with the test.
    const limits = { lockTimeoutMs: 600_000, statementTimeoutMs: 600_000 }
    const [holder, store] = [await connect(), await openMigrated({ schema: 'stuck', ...limits })]
    for (const n of [1, 2, 3]) await indexed(store, { txHash: hash(n) })
    const claims = await store.deliveries.claim({ limit: 5, leaseMs: 60_000 })
    const settled = claims.map((claim) => ({ claim, attempt: answered, verdict: { kind: 'delivered' } }) as const)
    await holder.query('begin')
    await holder.query('select 1 from stuck.outbox where id = $1 for update', [claims[1]?.deliveryId])
    const { statuses } = await store.deliveries.settle(settled, indifferent)
    expect(statuses).toEqual(['delivered', 'locked', 'delivered'])
    await holder.query('rollback')
    expect((await store.deliveries.settle(settled, indifferent)).statuses).toEqual([null, 'delivered', null])

    await indexed(store, { txHash: hash(4) })
    const failure = {
      claim: await fixtures.claimOne(store),
      attempt: failed,
      verdict: { kind: 'retry', inMs: 0 },
    } as const
    await holder.query('begin')
    await holder.query('select 1 from stuck.integrations for update')
    const worse: EndpointJudge = ({ failures }) => ({ failures: failures + 1, blocks: 0, blockMs: null })
    await expect(store.deliveries.settle([failure], worse)).rejects.toMatchObject({ code: 'ERR_STORE_BUSY' })
    await holder.query('rollback')
    expect((await store.deliveries.settle([failure], worse)).statuses).toEqual(['pending'])
  })

  test('are a person whose subject is found by its applicant, without waiting', async () => {
    const [one, two] = [await openMigrated({ schema: 'applicants' }), open({ schema: 'applicants' })]
    const subject = { id: 'subject', emailKey: null, email: null, accountId: 'account', proved: false }
    await one.transaction(async ({ identity }) => {
      await identity.insertSubject(subject)
      await identity.changeVerification('subject', { applicantId: 'applicant' })
    })
    const read = await one.transaction(async ({ identity }) => {
      await identity.lockPersons({ subjectId: 'subject' })
      await identity.changeVerification('subject', { applicantId: 'another' })
      return two.transaction((tx) => tx.identity.findSubjectByApplicant('applicant'))
    })
    expect(read).toMatchObject({ id: 'subject', applicantId: 'applicant' })
  })
})
