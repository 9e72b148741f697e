/** Live pages: one reader for all of them, resume by id, nothing while none is open. */
import type { ConsoleReads } from '@payment-integration/core/internal'
import { createTwin, type Twin, type TwinIntegration } from '@payment-integration/testing/twin'
import { afterEach, beforeEach, expect, it, type MockInstance, vi } from 'vitest'
import { type Console, createConsole } from './create-console.js'

let twin: Twin
let pages: Console
let shop: TwinIntegration
/** Reads for changes so far. */
let reads: () => number
let newest: MockInstance<ConsoleReads['newest']>

beforeEach(async () => {
  twin = await createTwin({ seed: 5 })
  shop = await twin.addIntegration(() => new Response(null, { status: 204 }))
  newest = vi.spyOn(twin.service.queries, 'newest')
  reads = () => newest.mock.calls.length
  const findViewer = ({ headers }: Request) => ({ name: headers.get('x-viewer') ?? 'alice', role: 'admin' }) as const
  pages = createConsole({ service: twin.service, clock: twin.clock, findViewer })
})
afterEach(async () => {
  pages.close()
  await twin.close()
})

/** Opens a stream; `next` resolves the next event of a name. */
async function open(query: string, lastEventId?: string, viewer = 'alice') {
  const headers = { 'x-viewer': viewer, ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) }
  const answer = await pages.fetch(new Request(`http://localhost/console/live?${query}`, { headers }))
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
  let buffered = ''
  async function next(name: string): Promise<{ id: string; data: Record<string, unknown> }> {
    for (;;) {
      const end = buffered.indexOf('\n\n')
      if (end === -1) {
        const { value, done } = (await reader?.read()) ?? { done: true, value: undefined }
        if (done) throw new Error('The stream ended.')
        buffered += value
        continue
      }
      const lines = buffered.slice(0, end).split('\n')
      const { event, id, data } = Object.fromEntries(lines.map((line) => line.split(/: (.*)/s)))
      buffered = buffered.slice(end + 2)
      if (event === name) return { id, data: JSON.parse(data) }
    }
  }
  return { next, close: () => reader?.cancel() }
}

const containing = (text: string) => expect.stringContaining(text)
const pay = () => twin.pay({ integrationAddress: shop.address })

/** Waits until the reader knows the rows of before. */
const baselineRead = () => vi.waitFor(() => expect(newest.mock.settledResults[0]?.type).toBe('fulfilled'), 300_000)

it('a new payment reaches an open list as a row, and a change comes as the same row', async () => {
  const list = await open('topic=payments')
  await baselineRead()
  const paid = await pay()
  const first = await list.next('row')
  expect(first.data).toMatchObject({ matches: true, html: containing(paid.txHash) })
  await twin.update(paid, { state: 'success' })
  const second = await list.next('row')
  expect(second.data).toMatchObject({ matches: true, html: containing('success') })
})

it('a payment between the reading of a page and its stream is a row of the stream', async () => {
  // The script is built at the first request, which may take long.
  await pages.fetch(new Request('http://localhost/console/nothing'))
  const html = await (await pages.fetch(new Request('http://localhost/console/payments'))).text()
  const [, query = ''] = /data-live="([^"]+)"/.exec(html) ?? []
  const paid = await pay()
  const list = await open(query.replaceAll('&amp;', '&'))
  expect((await list.next('row')).data).toMatchObject({ html: containing(paid.txHash) })
  await list.close()
})

it('a row that does not match the filters of a page is marked so', async () => {
  const list = await open('topic=payments&state=failure')
  await baselineRead()
  await pay()
  expect((await list.next('row')).data).toMatchObject({ matches: false })
})

it('deliveries come as rows, the overview as parts and series, and a payment only its own changes', async () => {
  const paid = await pay()
  const [deliveries, overview, one] = await Promise.all([
    open('topic=deliveries'),
    open('topic=overview'),
    open(`topic=payment&chain=${paid.chainId}&hash=${paid.txHash}`),
  ])
  await baselineRead()
  await pay()
  await twin.update(paid, { state: 'success' })
  expect((await deliveries.next('row')).data).toMatchObject({ html: containing('delivered') })
  expect((await overview.next('overview')).data).toMatchObject({
    parts: { problems: containing('All well'), tiles: containing('Pending deliveries'), chains: expect.any(String) },
    charts: { latency: { p50: expect.any(Number) } },
  })
  expect((await one.next('stale')).data).toEqual({})
})

it('a page that reconnects with its last id receives each missed event once', async () => {
  const list = await open('topic=payments')
  const other = await open('topic=payments')
  await baselineRead()
  await pay()
  const { id } = await list.next('row')
  await list.close()
  const missed = await pay()
  await other.next('row')
  await other.next('row')
  const back = await open('topic=payments', id)
  expect((await back.next('row')).data).toMatchObject({ html: containing(missed.txHash) })
})

it('after more payments than one reading shows, lists load again, and later payments are rows', async () => {
  const list = await open('topic=payments')
  await baselineRead()
  const burst = Array.from({ length: 101 }, (_, n) => String(9_000 + n))
  newest.mockResolvedValueOnce({ payments: burst, deliveries: [], updates: [] })
  await list.next('stale')
  const paid = await pay()
  expect((await list.next('row')).data).toMatchObject({ html: containing(paid.txHash) })
})

it('pages are told that the database does not answer, and that it answers again', async () => {
  const list = await open('topic=payments')
  await baselineRead()
  expect((await list.next('failing')).data).toEqual({ isFailing: false })
  newest.mockRejectedValue(new Error('away'))
  expect((await list.next('failing')).data).toEqual({ isFailing: true })
  const other = await open('topic=chains')
  expect((await other.next('failing')).data).toEqual({ isFailing: true })
  newest.mockRestore()
  expect((await list.next('failing')).data).toEqual({ isFailing: false })
  expect(Object.keys((await other.next('overview')).data)).toEqual(['parts'])
})

it('a reorg makes lists and payments load again', async () => {
  const paid = await pay()
  const list = await open('topic=payments')
  const one = await open(`topic=payment&chain=${paid.chainId}&hash=${paid.txHash}`)
  await baselineRead()
  const [indexer] = twin.service.indexers
  if (indexer === undefined) throw new Error('There is no chain.')
  const status = indexer.status()
  const followed = { at: twin.clock.now(), from: 1_000_000_000, commonAncestor: 1 }
  const spy = vi.spyOn(indexer, 'status')
  spy.mockReturnValue({ ...status, reorgs: 1, newestReorgs: [followed] })
  await Promise.all([list.next('stale'), one.next('stale')])
  // Its blocks are indexed again.
  spy.mockReturnValue({ ...status, reorgs: 1, newestReorgs: [followed], indexed: followed.from })
  await Promise.all([list.next('stale'), one.next('stale')])
})

it('a listener that throws gets the next sample', async () => {
  const list = await open('topic=payments')
  await baselineRead()
  const byId = vi.spyOn(twin.service.queries, 'paymentsById').mockResolvedValueOnce([null as never])
  await vi.waitFor(() => expect(byId).toHaveBeenCalled(), 300_000)
  const paid = await pay()
  expect((await list.next('row')).data).toMatchObject({ html: containing(paid.txHash) })
})

it('a stream that ends while it opens frees its slot', async () => {
  await pay()
  const [paid] = await twin.service.queries.paymentsById(['1'])
  const { id } = await (await open('topic=payments')).next('failing')
  await baselineRead()
  const invoice = { amount: '1'.repeat(9_000), currency: 'EUR' }
  const many = Array(200).fill({ ...paid, invoice })
  const byId = vi.spyOn(twin.service.queries, 'paymentsById').mockResolvedValueOnce(many)
  await vi.waitFor(() => expect(byId).toHaveBeenCalledTimes(2), 300_000)
  // Each resumes with more missed events than a stream may buffer.
  for (let n = 0; n < 11; n += 1) await open('topic=payments', id)
})

it('a HEAD request opens no stream', async () => {
  const answer = await pages.fetch(new Request('http://localhost/console/live?topic=payments', { method: 'HEAD' }))
  expect([answer.status, reads()]).toEqual([200, 0])
})

it.each(['1.1', 'x', '99999999999999999999.1'])(
  'a page that comes back with the unknown id %s loads again',
  async (id) => {
    const list = await open('topic=payments', id)
    expect((await list.next('stale')).data).toEqual({})
  },
)

it('twenty open pages cost the reads of one, and none is read before the first', async () => {
  expect(reads()).toBe(0)
  const first = await open('topic=overview')
  for (let n = 1; n < 20; n += 1) await open('topic=overview', undefined, `viewer ${n}`)
  // Each read is one event of each page.
  for (let n = 1; n <= 3; n += 1) await first.next('overview')
  expect(reads()).toBeLessThanOrEqual(5)
})

it('a viewer has 10 open pages at most, whatever the others have', async () => {
  const opened = await Promise.all(Array.from({ length: 10 }, () => open('topic=payments')))
  const answer = () => pages.fetch(new Request('http://localhost/console/live?topic=jobs'))
  expect((await answer()).status).toBe(503)
  await open('topic=payments', undefined, 'bob')
  await opened[0]?.close()
  expect((await answer()).status).toBe(200)
})

it.each([
  ['cross-site', 403],
  ['same-site', 403],
  ['same-origin', 200],
  ['none', 200],
])('a stream that a browser asks for with Sec-Fetch-Site: %s is answered %i', async (site, status) => {
  const headers = { 'Sec-Fetch-Site': site }
  const answer = await pages.fetch(new Request('http://localhost/console/live?topic=payments', { headers }))
  expect(answer.status).toBe(status)
})

it('the 101st open page is answered 503, and close ends all streams', async () => {
  const openAs = (n: number) => open('topic=overview', undefined, `viewer ${n}`)
  const open100 = await Promise.all(Array.from({ length: 100 }, (_, n) => openAs(n)))
  const answer = await pages.fetch(new Request('http://localhost/console/live?topic=overview'))
  expect(answer.status).toBe(503)
  pages.close()
  await expect(open100[0]?.next('row')).rejects.toThrow('ended')
  const count = reads()
  await new Promise((resolve) => setTimeout(resolve, 1_200))
  expect(reads()).toBe(count)
  const late = await pages.fetch(new Request('http://localhost/console/live?topic=overview'))
  expect([late.status, reads()]).toEqual([503, count])
})
