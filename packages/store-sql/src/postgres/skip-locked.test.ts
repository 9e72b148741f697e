import type { EndpointJudge } from '@payment-integration/core/internal'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { createTestDatabase, postgresMissing, type TestDatabase } from '../../test/postgres.js'
import { createPostgresStore } from './create-postgres-store.js'

const { answered, failed, hash, indexed, indifferent, integration } = fixtures

let server: TestDatabase
beforeAll(async () => {
  if (postgresMissing === null) server = await createTestDatabase()
})
afterAll(() => server?.remove())

test.skipIf(postgresMissing)(
  `a claim goes past a delivery that somebody else holds, without waiting${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  async () => {
    const holder = new pg.Client({ connectionString: server.connectionString })
    const store = createPostgresStore({ connectionString: server.connectionString, schema: 'held' })
    try {
      await holder.connect()
      await store.migrate()
      await store.integrations.insert(integration())
      for (const n of [1, 2, 3]) await indexed(store, { txHash: hash(n) })
      await holder.query('begin')
      await holder.query('select 1 from held.outbox order by id limit 1 for update')
      const claims = await store.deliveries.claim({ limit: 1, leaseMs: 60_000 })
      expect(claims.map(({ txHash }) => txHash)).toEqual([hash(2)])
      await holder.query('rollback')
      const rest = await store.deliveries.claim({ limit: 5, leaseMs: 60_000 })
      expect(rest.map(({ txHash }) => txHash)).toEqual([hash(1), hash(3)])
    } finally {
      await holder.end()
      await store.close()
    }
  },
)

test.skipIf(postgresMissing)(
  `one delivery or endpoint that somebody else holds keeps a settle of others from nothing${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  async () => {
    const holder = new pg.Client({ connectionString: server.connectionString })
    const store = createPostgresStore({ connectionString: server.connectionString, schema: 'stuck' })
    try {
      await holder.connect()
      await store.migrate()
      await store.integrations.insert(integration())
      for (const n of [1, 2, 3]) await indexed(store, { txHash: hash(n) })
      const claims = await store.deliveries.claim({ limit: 5, leaseMs: 60_000 })
      const settled = claims.map((claim) => ({ claim, attempt: answered, verdict: { kind: 'delivered' } }) as const)
      await holder.query('begin')
      await holder.query('select 1 from stuck.outbox where id = $1 for update', [claims[1]?.deliveryId])
      const begun = performance.now()
      const { statuses } = await store.deliveries.settle(settled, indifferent)
      expect(statuses).toEqual(['delivered', 'locked', 'delivered'])
      expect(performance.now() - begun).toBeLessThan(5_000)
      await holder.query('rollback')
      expect((await store.deliveries.settle(settled, indifferent)).statuses).toEqual([null, 'delivered', null])

      await indexed(store, { txHash: hash(4) })
      const [claim] = await store.deliveries.claim({ limit: 1, leaseMs: 60_000 })
      if (claim === undefined) throw new Error('A delivery was due.')
      const failure = { claim, attempt: failed, verdict: { kind: 'retry', inMs: 0 } } as const
      await holder.query('begin')
      await holder.query('select 1 from stuck.integrations for update')
      const worse: EndpointJudge = ({ failures }) => ({ failures: failures + 1, blocks: 0, blockMs: null })
      await expect(store.deliveries.settle([failure], worse)).rejects.toMatchObject({ code: 'ERR_STORE_BUSY' })
      await holder.query('rollback')
      expect((await store.deliveries.settle([failure], worse)).statuses).toEqual(['pending'])
    } finally {
      await holder.end()
      await store.close()
    }
  },
)

test.skipIf(postgresMissing)(
  `the subject of an applicant is read without waiting while another transaction locks its person${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  async () => {
    const open = () => createPostgresStore({ connectionString: server.connectionString, schema: 'applicants' })
    const [one, two] = [open(), open()]
    try {
      await one.migrate()
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
    } finally {
      await Promise.all([one.close(), two.close()])
    }
  },
)
