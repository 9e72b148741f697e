/** Exports of the console: who may, which rows, what is recorded, and what ends them. */
import { expect, it } from 'vitest'
import { type Person, setUpAdmin } from '../../test/admin-setup.js'
import { createConsole } from '../create-console.js'

let shop: string
let olga: Person

const setup = setUpAdmin(61, async (own) => {
  const { twin } = own
  shop = (await twin.addIntegration(() => new Response(null, { status: 204 }))).address
  for (const memo of ['order-1', '=cmd|"/c calc"!A1'])
    await twin.update(await twin.pay({ integrationAddress: shop, memo, amount: '10.03888' }), { state: 'success' })
  await twin.pay({ integrationAddress: null, chainId: 10, memo: 'of nobody' })
  await twin.advance(0)
  olga = await own.signIn('olga', 'operator')
})

async function lastRecords(limit: number): Promise<Record<string, unknown>[]> {
  const records = await setup.twin.service.store.console.audit({ limit })
  return records.map(({ actor, action, subject, details }) => ({ actor, action, subject, ...details }))
}

it('an operator gets the filtered payments as CSV, in a file that nobody caches', async () => {
  const { status, headers, text } = await olga.get(`/payments.csv?integration=${shop}&state=success&before=1.1`)
  expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
  expect(headers.get('content-disposition')).toMatch(/^attachment; filename="payments-[-\d]{10}T\d{6}Z\.csv"$/)
  expect(headers.get('cache-control')).toBe('no-store')
  const memos = text.split('\r\n').map((row) => row.split(',')[8])
  expect(memos).toEqual(['memo', `"'=cmd|""/c calc""!A1"`, 'order-1', undefined])
  expect(text.split(',10.03888').slice(1)).toHaveLength(6)
  const common = { actor: 'operator:olga', subject: shop, integrationAddress: shop, state: 'success' }
  expect(await lastRecords(2)).toEqual([
    { ...common, action: 'export.ended', list: 'payments', format: 'csv', rows: 2, end: 'complete' },
    { ...common, action: 'export.started', list: 'payments', format: 'csv' },
  ])
})

it('JSON lines are the payments of the read API and those that name no integration, or deliveries', async () => {
  const read = async (path: string) => {
    const { text } = await olga.get(path)
    return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Record<string, unknown>]))
  }
  const { payments } = await setup.twin.service.queries.forIntegration(shop).listPayments({})
  expect(await read(`/payments.jsonl?integration=${shop}`)).toEqual(payments)
  const [nobody] = await read('/payments.jsonl?chain=10')
  expect(nobody).toMatchObject({ integrationAddress: null, memo: 'of nobody' })
  expect(await read('/payments.jsonl')).toEqual(expect.arrayContaining([nobody, ...payments]))
  const deliveries = await read('/deliveries.jsonl?status=delivered&before=1')
  expect(deliveries.map(({ deliveryId }) => deliveryId)).toEqual(['4', '3', '2', '1'])
  expect(await read('/deliveries.jsonl?status=pending')).toEqual([])
})

it('the lists lead to an export with their filter, but a search does not', async () => {
  const { text } = await olga.get(`/payments?integration=${shop}&before=9.9`)
  expect(text).toContain(`href="/console/payments.csv?integration=${shop}"`)
  expect((await olga.get('/deliveries?status=delivered')).text).toContain('/deliveries.jsonl?status=delivered"')
  expect((await olga.get('/payments?q=order-1')).text).not.toContain('/payments.csv')
})

it.each([
  ['viewer', '/payments.csv', 403, 'An export needs the role operator; yours is viewer.'],
  ['operator', '/payments.csv?q=order', 400, 'A search is not exported.'],
  ['operator', '/deliveries.jsonl?hash=0x1', 400, 'The hash is not'],
  ['operator', '/audit.csv', 404, 'Page not found'],
] as const)('a %s who asks for %s is answered %i, and nothing is recorded', async (role, path, status, text) => {
  const person = await setup.signIn(`${role}-${path.length}`, role)
  const before = await lastRecords(1)
  if (role === 'viewer') expect((await person.get('/payments')).text).not.toContain('/payments.csv')
  const page = await person.get(path)
  expect([page.status, page.headers.get('content-disposition')]).toEqual([status, null])
  expect(page.text).toContain(text)
  expect(await lastRecords(1)).toEqual(before)
})

/** A console whose session changes when the test says so, and whose listing has a payment a page. */
function openConsole() {
  const { service, clock } = setup.twin
  const state = { viewer: { name: 'ann', role: 'admin' } as { name: string; role: 'admin' | 'viewer' } | null }
  const errors: unknown[] = []
  async function* pages() {
    for await (const rows of service.queries.paymentListing({}).pages()) for (const row of rows) yield [row]
  }
  const queries = { ...service.queries, paymentListing: () => ({ list: 'payments', filter: {}, pages }) as const }
  const [findViewer, onError] = [() => state.viewer, (error: unknown) => errors.push(error)]
  const app = createConsole({ service: { ...service, queries }, clock, findViewer, onError })
  const url = 'http://127.0.0.1:4747/console/payments.jsonl'
  return { app, errors, state, request: async (init: RequestInit = {}) => app.fetch(new Request(url, init)) }
}
type OpenConsole = ReturnType<typeof openConsole>

it.each([
  ['the session ends', ({ state }: OpenConsole) => Object.assign(state, { viewer: null })],
  ['the role is lowered', ({ state }: OpenConsole) => Object.assign(state.viewer ?? {}, { role: 'viewer' })],
  ['the console closes', ({ app }: OpenConsole) => app.close()],
])('a download breaks off when %s, and the audit log says so', async (_, interrupt) => {
  const open = openConsole()
  const answer = await open.request()
  interrupt(open)
  await expect(answer.text()).rejects.toThrow('The export ended early.')
  expect(open.errors).toEqual([new Error('The export was stopped before its last row.')])
  expect(await lastRecords(1)).toMatchObject([{ actor: 'console:ann', action: 'export.ended', end: 'stopped' }])
})

it('two downloads of a person run at once; when a client goes away its place is free', async () => {
  const { request } = openConsole()
  const [first, second] = [await request(), await request()]
  expect((await request()).status).toBe(503)
  const reader = first.body?.getReader()
  await reader?.read()
  await reader?.cancel()
  const [record] = await lastRecords(1)
  expect(record).toMatchObject({ action: 'export.ended', end: 'cut_off' })
  expect(Number(record?.['rows'])).toBeLessThan(3)
  for (const answer of [second, await request()]) expect((await answer.text()).split('\n')).toHaveLength(4)
})

it('HEAD begins none, and a link of another site neither', async () => {
  const { request } = openConsole()
  const before = await lastRecords(1)
  expect((await request({ method: 'HEAD' })).status).toBe(200)
  expect((await request({ headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(403)
  expect(await lastRecords(1)).toEqual(before)
})

it('a client that goes away during a read ends the export without an error', async () => {
  const { request, errors } = openConsole()
  const reader = (await request()).body?.getReader()
  await reader?.read()
  const reading = reader?.read()
  await reader?.cancel()
  expect([(await reading)?.done, errors]).toEqual([true, []])
})
