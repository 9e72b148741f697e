/** A random sequence of requests of two integrations: neither sees or changes anything of the other one. */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Page } from '../../test/browser-like.js'
import { openPortal, type PortalSetup } from '../../test/portal-setup.js'
import { integrationPaymentFilter } from '../filters.js'
import { createIntegrationScope } from './integration-scope.js'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const rounds = 120

/** An integration with the values that only its own pages may have. */
type Side = Awaited<ReturnType<typeof openSide>>
/** An answer, and the text of the request that a page may repeat. */
type Answered = readonly [page: Page, repeated: string]

let setup: PortalSetup
let sides: readonly [Side, Side]
/** One hash, paid to the first side on one chain and to the second on another. */
const sharedHash = `0x${'5a'.repeat(32)}`
const sender = `0x${'e1'.repeat(20)}`

/** Whole numbers from 0 to below a limit, from the seed. */
function draws() {
  let n = 0
  return (below: number) => {
    n += 1
    return createHash('sha256').update(`${seed}.${n}`).digest().readUInt32BE(0) % below
  }
}

async function openSide(name: string, chainId: number) {
  const { twin } = setup
  const integration = await twin.addIntegration(() => new Response(`answer of ${name}`, { status: 500 }))
  const { apiSecret, signingSecret, address, notificationUrl } = integration
  /** Every text that names this side or its rows. */
  const marks = new Set([address, apiSecret, signingSecret, `answer of ${name}`])
  const paths: string[] = []
  if (notificationUrl !== null) marks.add(notificationUrl)
  for (let n = 0; n < 3; n += 1) {
    const memo = `memo-${name}-${n}`
    const txHash = n === 0 ? sharedHash : undefined
    const paid = await twin.pay({ integrationAddress: address, chainId, memo, sender, txHash })
    await twin.update(paid, { state: 'success', recipient: { title: `title-${name}-${n}`, subtitle: null } })
    for (const mark of [memo, `title-${name}-${n}`]) marks.add(mark)
    if (txHash === undefined) marks.add(paid.txHash)
    paths.push(`/payments/${paid.chainId}/${paid.txHash}`)
  }
  const list = await twin.service.deliveries.list({ integrationAddress: address, limit: 99 })
  const deliveryIds = list.map(({ deliveryId }) => deliveryId)
  return { integration, apiSecret, browser: await setup.signIn(integration), marks, paths, deliveryIds }
}

beforeAll(async () => {
  setup = await openPortal(33)
  sides = [await openSide('anna', 137), await openSide('bert', 10)]
})
afterAll(() => setup?.twin.close())

/** Everything that is stored of a side, and whether its session is open. */
async function getState({ integration: { address }, browser }: Side): Promise<string> {
  const { store, queries, integrationSessions } = setup.twin.service
  const cookie = browser.cookies.get('__Host-pi_portal') ?? ''
  return JSON.stringify([
    await store.integrations.find(address),
    await store.console.deliveries({ integrationAddress: address, limit: 200 }),
    await queries.forIntegration(address).listPayments({}),
    (await store.deliveries.endpoints()).filter((each) => each.integrationAddress === address),
    await integrationSessions.authenticate(cookie),
  ])
}

const unknownHash = `0x${'de'.repeat(32)}`

/** Asks with a value of another side, which must be answered like an unknown one. @param show - As a page has it. */
async function askBoth(
  ask: (value: string) => Promise<Page>,
  [value, unknown, answered]: readonly [value: string, unknown: string, status: number],
  show = (given: string) => given,
): Promise<Answered> {
  const answer = await ask(value)
  const comparable = ({ status, text, location }: Page, given: string) =>
    JSON.stringify([status, text, location]).replaceAll(show(given), '<given>')
  expect(comparable(answer, value)).toBe(comparable(await ask(unknown), unknown))
  expect(answer.status).toBe(answered)
  return [answer, value]
}

it(`neither integration sees or changes anything of the other one (seed ${seed})`, async () => {
  const draw = draws()
  const pick = <T>(values: readonly T[]): T => values[draw(values.length)] as T
  /** Signs in again where an act ended the session. */
  async function ensure(side: Side): Promise<void> {
    if ((await side.browser.get('/portal')).status !== 303) return
    const { address } = side.integration
    side.browser = await setup.signIn({ address, apiSecret: side.apiSecret }, setup.browser())
  }

  const query = (other: Side) =>
    pick([
      '',
      `integration=${other.integration.address}`,
      `integrationAddress=${other.integration.address}&address=${other.integration.address}`,
      `status=${pick(['pending', 'delivered', 'exhausted', 'superseded'])}`,
      `wallet=${sender}`,
      `state=${pick(['success', 'pending', 'none'])}&chain=${pick([137, 10])}&since=2020-01-01&until=2099-01-01`,
      `q=${pick([sender, sharedHash, 'memo', ...other.marks])}`,
      `wallet=${other.integration.address}`,
      `before=${pick([...other.deliveryIds, '999999999'])}`,
      `hash=${sharedHash}`,
      'a=1&b=2',
    ])

  async function read(own: Side, other: Side): Promise<Answered> {
    const path = pick(['', '/payments', '/deliveries', '/endpoint', '/secrets', ...own.paths])
    const params = query(other)
    return [await own.browser.get(`/portal${path}?${params}`), params]
  }

  async function readOther(own: Side, other: Side): Promise<Answered> {
    const path = pick(other.paths)
    const hash = path.split('/')[3] ?? ''
    return askBoth((value) => own.browser.get(`/portal${path.replace(hash, value)}`), [hash, unknownHash, 404])
  }

  async function listOther(own: Side, other: Side): Promise<Answered> {
    const hash = pick([...other.marks].filter((mark) => /^0x[0-9a-f]{64}$/.test(mark)))
    const list = pick(['deliveries?hash', 'payments?q'])
    return askBoth((value) => own.browser.get(`/portal/${list}=${value}`), [hash, unknownHash, 200])
  }

  async function exportOwn(own: Side, other: Side): Promise<Answered> {
    const list = pick(['/payments', '/deliveries'])
    const ofPayments = [`state=success&wallet=${sender}`, `q=${pick([...other.marks])}`, 'since=2020-01-01&q=memo']
    const ofDeliveries = [`hash=${sharedHash}`, 'status=pending']
    const ofList = list === '/payments' ? ofPayments : ofDeliveries
    const params = pick(['', `integration=${other.integration.address}`, ...ofList])
    return [await own.browser.get(`/portal${list}.${pick(['csv', 'jsonl'])}?${params}`), params]
  }

  async function cursorOfOther(own: Side, other: Side): Promise<Answered> {
    const others = setup.twin.service.queries.forIntegration(other.integration.address)
    const { nextCursor } = await others.listPayments({ limit: '1' })
    const cursor = encodeURIComponent(nextCursor ?? '')
    return askBoth((value) => own.browser.get(`/portal/payments?cursor=${value}`), [cursor, 'none', 400])
  }

  async function askReplayOther(own: Side, other: Side): Promise<Answered> {
    const ask = (value: string) => own.browser.get(`/portal/deliveries/replay?id=${value}`)
    return askBoth(ask, [pick(other.deliveryIds), '888888888', 404], (given) => `id=${given}`)
  }

  async function replayOther(own: Side, other: Side): Promise<Answered> {
    const csrf = await own.browser.csrf('/portal')
    const id = pick(other.deliveryIds)
    const replay = (value: string) => own.browser.post('/portal/act/replay', { csrf, id: value })
    return askBoth(replay, [id, '888888888', 409], (given) => `&quot;${given}&quot;`)
  }

  async function act(own: Side, other: Side): Promise<Answered> {
    const csrf = await own.browser.csrf('/portal')
    const name = pick(['replay', 'test', 'url', 'rotate', 'end-api', 'prepare', 'activate', 'abort', 'end-signing'])
    const { address } = other.integration
    const named = { address, integration: address, integrationAddress: address }
    const url = own.integration.notificationUrl ?? ''
    const id = pick([...own.deliveryIds, 'x', ''])
    const fields = { id, url, graceHours: pick(['1', '24']), confirmed: 'yes' }
    const answer = await own.browser.post(`/portal/act/${name}`, { csrf, ...named, ...fields })
    const secret = /pi_(?:api|whsec)_[\w-]{43}/.exec(answer.text)?.[0]
    if (secret !== undefined) own.marks.add(secret)
    if (secret?.startsWith('pi_api_')) own.apiSecret = secret
    return [answer, '']
  }

  const steps = [read, readOther, listOther, exportOwn, cursorOfOther, askReplayOther, replayOther, act, act]
  const statuses = new Map<number, number>()
  for (let round = 0; round < rounds; round += 1) {
    const [own, other] = draw(2) === 0 ? sides : ([sides[1], sides[0]] as const)
    await ensure(own)
    const newest = (await setup.twin.service.audit.head())?.seq ?? 0
    const before = await getState(other)
    const [page, params] = await pick(steps)(own, other)
    await setup.twin.advance(0)
    const where = `seed ${seed}, round ${round}`
    const shown = `${page.text}${page.location}`
    const leaks = [...other.marks].filter((mark) => !params.includes(mark) && shown.includes(mark))
    expect(leaks, where).toEqual([])
    expect(await getState(other), where).toBe(before)
    const records = await setup.twin.service.audit.list({ afterSeq: newest, limit: 99 })
    for (const { actor, subject, details } of records) {
      expect(actor, where).toBe(`integration:${own.integration.address}`)
      expect([own.integration.address, ...own.deliveryIds], where).toContain(subject)
      // An export records the filter that was asked for.
      const unasked = [...other.marks].filter((mark) => !params.includes(mark))
      for (const mark of unasked) expect(JSON.stringify(details), where).not.toContain(mark)
    }
    statuses.set(page.status, (statuses.get(page.status) ?? 0) + 1)
  }
  // Otherwise the sequence proves little.
  for (const status of [200, 303, 400, 404, 409]) expect(statuses.get(status) ?? 0, `seed ${seed}`).toBeGreaterThan(0)
})

/** Every combination of filters of the payments list, with values of the other side among them. */
function* combinations(other: Side): Generator<Record<string, string>> {
  const [otherHash = '', otherMemo = ''] = ['0x', 'memo'].map((start) =>
    [...other.marks].findLast((mark) => mark.startsWith(start)),
  )
  const fields: Record<string, readonly (string | undefined)[]> = {
    state: [undefined, 'success', 'none'],
    chain: [undefined, '137', '10'],
    wallet: [undefined, sender, other.integration.address],
    until: [undefined, '2099-01-01'],
    q: [undefined, sharedHash, sender, 'memo', '1.00', otherHash, otherMemo],
  }
  const count = Object.values(fields).reduce((product, { length }) => product * length, 1)
  for (let n = 0; n < count; n += 1) {
    let rest = n
    const given: Record<string, string> = {}
    for (const [name, values] of Object.entries(fields)) {
      const value = values[rest % values.length]
      if (value !== undefined) given[name] = value
      rest = Math.floor(rest / values.length)
    }
    yield given
  }
}

it('no filter of the payments list, and none of its export, shows a row of the other integration', async () => {
  let [pages, rows] = [0, 0]
  for (const [own, other] of [sides, [sides[1], sides[0]] as const]) {
    const scope = createIntegrationScope(setup.twin.service, own.integration.address)
    const ownHashes = own.paths.map((path) => path.split('/')[3])
    for (const query of combinations(other)) {
      const given = JSON.stringify(query)
      // The page drops the parameter `integration`; the reads ignore it too.
      const filter = integrationPaymentFilter({ ...query, integration: other.integration.address })
      const page = await scope.payments(filter)
      const exported: object[] = []
      for await (const part of scope.paymentListing(filter).pages()) exported.push(...part)
      for (const row of [...page.rows, ...exported])
        expect(row, given).toMatchObject({ integrationAddress: own.integration.address })
      for (const { txHash } of page.rows) expect(ownHashes, given).toContain(txHash)
      expect(exported, given).toHaveLength(page.rows.length)
      pages += 1
      rows += page.rows.length
    }
  }
  // Otherwise the filters prove little.
  expect([pages > 700, rows > 300]).toEqual([true, true])
})

it('the payments list of an integration is filtered by each field, and its export follows', async () => {
  const { twin } = setup
  const shop = await twin.addIntegration(() => new Response(null, { status: 204 }))
  const own = await setup.signIn(shop)
  const invoice = { amount: '25.00', currency: 'EUR', settlementAmount: '27', settlementCurrency: 'USD' }
  const pay = async (memo: string, state: 'success' | 'failure', from = sender) => {
    const paid = await twin.pay({ integrationAddress: shop.address, chainId: 137, memo, sender: from })
    await twin.update(paid, { state, ...(memo === 'table-1' ? { invoice } : {}) })
    await twin.advance(3_600_000)
    return paid
  }
  // Half an hour before and after the first payment.
  const [start, later] = [-1, 1].map((half) => new Date(twin.clock.now() + half * 1_800_000).toISOString())
  await pay('table-1', 'success')
  await pay('table-2', 'failure')
  await pay('chair-3', 'success', `0x${'e2'.repeat(20)}`)
  for (const [query, memos] of [
    ['', ['chair-3', 'table-2', 'table-1']],
    ['state=failure', ['table-2']],
    ['state=none', []],
    [`since=${later}`, ['chair-3', 'table-2']],
    [`since=${start}&until=${later}`, ['table-1']],
    ['chain=10', []],
    [`wallet=${sender}&state=success`, ['table-1']],
    [`q=${sender}`, ['table-2', 'table-1']],
    ['q=table-', ['table-2', 'table-1']],
    ['q=25.00+EUR', ['table-1']],
    ['q=25.00+USD', []],
  ] as const) {
    const { text } = await own.get(`/portal/payments?${query}`)
    const shown = [...text.matchAll(/data-label="Memo"[^>]*><span>([^<]*)</g)].map(([, memo]) => memo)
    expect(shown, query).toEqual(memos)
    const [, href = ''] = /href="([^"]*payments\.jsonl[^"]*)"/.exec(text) ?? []
    const lines = (await own.get(href.replaceAll('&amp;', '&'))).text.split('\n').slice(0, -1)
    const exported = lines.map((line) => (JSON.parse(line) as { memo: string }).memo)
    expect(exported, query).toEqual(memos)
  }
  const { text } = await own.get('/portal/payments?state=failure&q=table')
  expect(text).toContain('<option value="failure" selected="">')
  expect(text).toContain('<input type="hidden" name="q" value="table"')
  const ofWallet = await own.get(`/portal/payments?wallet=0x${'e2'.repeat(20)}&q=${sender}`)
  expect(ofWallet.text).toContain(`name="wallet" type="search" value="${sender}"`)
  for (const flaw of ['state=x', 'since=soon', 'wallet=0x1', 'cursor=x', 'chain=x'])
    expect((await own.get(`/portal/payments?${flaw}`)).status, flaw).toBe(400)
})
