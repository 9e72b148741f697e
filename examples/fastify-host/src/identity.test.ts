/** Identity verifications of the host's own users, at an identity provider on this machine. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startPostgres, type TestPostgres } from '../../../packages/store-sql/test/postgres.js'
import { describeOnPostgres } from '../../../packages/store-sql/test/support/on-postgres.js'
import { startHostWithUsers } from '../../../packages/testing/test/host-with-users.js'
import { type Host, startHost } from './host.js'

describeOnPostgres('users of a host on PostgreSQL', () => {
  let postgres: TestPostgres
  let running: Awaited<ReturnType<typeof startHostWithUsers<Host>>>

  beforeAll(async () => {
    postgres = await startPostgres()
    running = await startHostWithUsers((options) => startHost({ ...options, databaseUrl: postgres.connectionString }))
  })
  afterAll(async () => {
    await running?.stop()
    await postgres?.remove()
  })

  async function post(path: string, email: string) {
    const headers = { 'content-type': 'application/json' }
    const url = `${running.host.url}${path}`
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ email }) })
    const text = await response.text()
    return { status: response.status, id: text === '' ? '' : (JSON.parse(text) as { id: string }).id }
  }
  const register = async (email: string) => (await post('/users', email)).id
  async function prove(id: string, email: string) {
    expect((await post(`/users/${id}/proofs`, email)).status).toBe(204)
  }

  test('the user who proves an address has its verification; a later owner of the mailbox does not', async () => {
    const { share, approveNewest, getSubjects } = running
    const email = 'Mailbox@Example.com'
    expect(await share(email)).toMatchObject({ kind: 'in_flight', redeemed: true })
    await approveNewest()

    const anna = await register(email)
    await prove(anna, email)
    const review = { reviewAnswer: 'GREEN' }
    expect(await getSubjects(anna)).toMatchObject([{ proved: true, closed: false, review }])
    expect(await share(email)).toMatchObject({ kind: 'approved', redeemed: false })

    const bert = await register(email)
    expect(await getSubjects(bert)).toEqual([])
    await prove(bert, email)
    expect(await share(email)).toMatchObject({ kind: 'in_flight', redeemed: true })
    expect(await getSubjects(anna)).toMatchObject([{ closed: true, review }])
    expect(await getSubjects(bert)).toMatchObject([{ proved: true, review: { reviewAnswer: null } }])
  })

  test('of fifty shares at once while a user proves the address, one redeems', async () => {
    const { provider, share, getSubjects } = running
    const email = 'race@example.com'
    const carl = await register(email)
    const before = provider.redemptions.length
    const shares = Array.from({ length: 50 }, () => share(email))
    const [results] = await Promise.all([Promise.all(shares), prove(carl, email)])
    expect(results.filter(({ redeemed }) => redeemed)).toHaveLength(1)
    expect(provider.redemptions.length).toBe(before + 1)
    expect(await getSubjects(carl)).toMatchObject([{ proved: true }])
  })
})
