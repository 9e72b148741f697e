/** Endpoints, integrations and chains, as a browser without JavaScript gets them. */
import { createTwin, type Twin, type TwinIntegration } from '@payment-integration/testing/twin'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { getText, openChanged, setUpConsole } from '../../test/console-setup.js'
import { type Console, createConsole } from '../create-console.js'

/** More than a page has. */
const others = 60
let shop: TwinIntegration
const addresses: string[] = []

const setup = setUpConsole(13, async (twin) => {
  shop = await twin.addIntegration(() => new Response(null, { status: 308 }))
  for (let n = 0; n < others; n += 1) {
    const address = `0x${n.toString(16).padStart(2, '0').repeat(20)}`
    await twin.service.integrations.create({ address })
    addresses.push(address)
  }
  addresses.push(shop.address)
  addresses.sort()
  for (let n = 0; n < 4; n += 1) await twin.pay({ chainId: 10, integrationAddress: shop.address })
  await twin.reorganize(10, 1)
  await twin.mine(10, 2)
  await twin.mine(1, 1)
  await twin.advance(600_000)
})

/** A page by the path that a link has. */
const get = (path: string) => setup.get(path.replace('/console', ''))

it.each(['/console/integrations', '/console/endpoints'])('%s has each integration once, in pages', async (path) => {
  const rows: string[] = []
  let next: string | undefined = path
  while (next !== undefined) {
    const html: string = await get(next)
    for (const [row] of html.matchAll(/<tr>.*?<\/tr>/g)) rows.push(...(/0x[0-9a-f]{40}/.exec(row) ?? []))
    next = /href="([^"]*)" rel="next"/.exec(html)?.[1]
  }
  expect(rows).toEqual(addresses)
})

it('no list reads all integrations', async () => {
  const { integrations } = setup.twin.service
  const list = vi.spyOn(integrations, 'list')
  for (const path of [
    ...['/integrations', '/endpoints', '/payments', '/deliveries'],
    ...[`/payments?q=${shop.address}`, `/integrations/${shop.address}`],
  ])
    await setup.get(path)
  expect(list).not.toHaveBeenCalled()
  list.mockRestore()
})

it('an endpoint has its latencies, its breaker, and its last failure with what to do', async () => {
  const html = await get(`/console/endpoints?after=${addresses[addresses.indexOf(shop.address) - 1] ?? ''}`)
  for (const part of ['answers and timeouts', 'one attempt tests it', 'redirects are not followed'])
    expect(html).toContain(part)
})

it('a chain has its reorgs with time and depth', async () => {
  const html = await get('/console/chains')
  expect(html).toMatch(/Blocks replaced"[^>]*><span>1<\/span>/)
  expect(html).toContain('None since the start of this process.')
})

const node = (inUse: boolean, score: number) => {
  const counts = { failures: 0, contradictions: 0, failedProofs: 0 }
  return { nodes: [{ name: 'node #1', inUse, score, head: 1, latencyMs: 1, ...counts, lastError: null }] }
}

it.each<[Readonly<Record<string, unknown>>, string]>([
  [{ error: 'no node answers' }, 'indexing fails'],
  [{ leading: false }, 'indexed by another process'],
  [{ head: 2_000, indexed: 1_000 }, 'catching up'],
  [{}, 'up to date'],
  [{ proof: 'root' }, 'all receipts (root)'],
  [{ proof: 'bloom' }, 'log filters (bloom)'],
  [{ proof: 'none' }, 'no proof, node trusted (none)'],
  [node(true, 1), 'in use'],
  [node(false, 0.5), 'standby'],
  [node(false, 0), 'avoided after errors'],
])('a chain with %j is described as "%s"', async (changed, words) => {
  const indexer = setup.twin.service.indexers.find(({ chainId }) => chainId === 10)
  const status = { ...indexer?.status(), leading: true, error: null, ...changed }
  const indexers = [{ ...indexer, status: () => status }]
  const html = await openChanged(setup.twin, { indexers: indexers as never }).get('/chains')
  expect(html).toMatch(new RegExp(`class="badge [a-z]+">${words.replace(/[()]/g, '\\$&')}<`))
})

it('a record of the audit log has its hashes shortened, labeled, and ready to copy', async () => {
  const [address = ''] = addresses
  const { integrations, queries } = setup.twin.service
  await integrations.setNotificationUrl(address, 'https://shop.example/hook?key=secret')
  const [record] = await queries.audit({ limit: 1 })
  const [, fingerprint] = /\[([0-9a-f]{12})\]/.exec(String(record?.details['to'])) ?? []
  const html = await setup.get('/audit')
  expect(html).not.toMatch(/\[[0-9a-f]{12}\]/)
  expect(html).toContain('https://shop.example/… <span class="dim">fingerprint</span>')
  expect(html).toContain(`data-copy="${fingerprint}" title="Copy"`)
  expect(html).toMatch(new RegExp(`Subject"[^>]*><span><span class="copied"><code title="${address}"[^>]*>0x\\w{6}…`))
})

it('a filter by an integration beyond those of the form keeps its choice', async () => {
  const unknown = `0x${'fe'.repeat(20)}`
  expect(await get(`/console/payments?integration=${unknown}`)).toContain(`<option value="${unknown}" selected`)
})

describe('a number of the overview', () => {
  const overview = () => get('/console')
  const getTile = (html: string, name: string) =>
    new RegExp(`<(?:a|div) class="tile [^>]*><span class="name">${name}.*?</(?:a|div)>`).exec(html)?.[0] ?? ''

  it('of failing endpoints leads to these alone', async () => {
    const tile = getTile(await overview(), 'Failing endpoints')
    expect(tile).toMatch(/<span class="value">1<\/span>/)
    const [, path = ''] = /href="([^"]+)"/.exec(tile) ?? []
    const rows = [...(await get(path)).matchAll(/<tr>.*?<\/tr>/g)].map(([row]) => /0x[0-9a-f]{40}/.exec(row)?.[0])
    expect(rows.filter((address) => address !== undefined)).toEqual([shop.address])
  })

  it('of attempts has no link: no list has the attempts of an hour', async () => {
    const html = await overview()
    for (const name of ['Successful attempts', 'Response time, median'])
      expect(getTile(html, name)).toMatch(/^<div(?!.*href)/)
    expect(html).toMatch(/<div id="chart-attempts" class="plot"><\/div>/)
    expect(html).not.toContain('/console/deliveries?since')
  })

  it('of attempts is marked when one in twenty fails', async () => {
    expect(getTile(await overview(), 'Successful attempts')).toMatch(/class="tile bad".*0\.0 %/)
  })

  it.each([
    [null, 600_000, 'bad"', '>10 min<', 'waits for a blocked endpoint'],
    [600_000, 60_000, 'bad"', '>10 min<', 'late, though not blocked'],
    [1_000, null, '"', '>1 s<', 'nothing is late'],
  ])('of the oldest delivery, due %s ms, blocked %s ms, says why it waits', async (due, blocked, ...shown) => {
    const backlog = async () => ({ pending: 44, oldestDueMs: due, oldestBlockedMs: blocked })
    const html = await openChanged(setup.twin, { queries: { ...setup.twin.service.queries, backlog } }).get('')
    expect(getTile(html, 'Oldest due delivery')).toMatch(new RegExp(`class="tile ${shown.join('.*')}`))
  })

  it('of response times says that it is of the newest answers, without failed connections', async () => {
    const answer = {
      deliveryId: '1',
      number: 1,
      startedAt: setup.twin.clock.now(),
      latencyMs: 40,
      status: 204,
      reason: null,
    }
    const attempts = async () => [answer, { ...answer, latencyMs: 1, status: null, reason: 'connection' }]
    const html = await openChanged(setup.twin, { queries: { ...setup.twin.service.queries, attempts } }).get('')
    expect(getTile(html, 'Response time, median')).toMatch(/>40 ms<.*p95 40 ms, newest 1 answers/)
    expect(html).toContain('newest 400 attempts')
  })
})

it('chains without a block stand in one line, not in rows', async () => {
  const { indexers } = setup.twin.service
  const idle = { ...indexers[0]?.status(), chainId: 56, head: null, indexed: null, error: null }
  const more = [...indexers, { ...indexers[0], chainId: 56, status: () => idle }]
  const opened = openChanged(setup.twin, { indexers: more as never })
  for (const path of ['', '/chains']) {
    const html = await opened.get(path)
    expect(html).toMatch(/No block indexed yet:[^<]*56 BNB Chain/)
    expect(html).not.toContain('#chain-56')
  }
})

describe('the range of the overview', () => {
  const payAndOpen = async (laterMs: number, path = '') => {
    const fresh = await createTwin({ seed: 3 })
    onTestFinished(() => fresh.close())
    const { address } = await fresh.addIntegration()
    await fresh.pay({ chainId: 10, integrationAddress: address })
    return openChanged(fresh, {}, () => laterMs).get(path)
  }
  const getRange = (html: string) => /range=(\w+)" aria-current/.exec(html)?.[1]

  it('is the shortest that shows all payments of the hour, or the first that reaches the newest one', async () => {
    const hourMs = 3_600_000
    for (const [laterMs, range] of [
      [0, '15m'],
      [hourMs / 2, '1h'],
      [5 * hourMs, '24h'],
      [50 * hourMs, '7d'],
    ] as const) {
      const html = await payAndOpen(laterMs)
      expect([laterMs, getRange(html)]).toEqual([laterMs, range])
      expect(html).toMatch(/<span class="name">Payments<\/span><span class="value">1</)
    }
  })

  it('is chosen by the address, and 400 when there is none of that name', async () => {
    expect(getRange(await payAndOpen(0, '?range=24h'))).toBe('24h')
    expect(await payAndOpen(0, '?range=2h')).toContain('range is none of 15m, 1h, 24h, 7d.')
  })
})

describe('the overview of a twin', () => {
  let fresh: Twin
  let opened: Console
  let laterMs = 0
  const load = (path = '') => getText(opened, path.replace('/console', '').replaceAll('&amp;', '&'))
  beforeEach(async () => {
    laterMs = 0
    fresh = await createTwin({ seed: 4 })
    opened = createConsole({ service: fresh.service, clock: { now: () => fresh.clock.now() + laterMs } })
  })
  afterEach(async () => {
    opened.close()
    await fresh.close()
  })

  it('adds the invoices of successful payments of the range, exactly and by currency', async () => {
    const { address } = await fresh.addIntegration()
    const settled = { settlementAmount: '1', settlementCurrency: 'USD' }
    for (const [amount, currency, state] of [
      ['1234567.10', 'EUR', 'success'],
      ['0.20', 'EUR', 'success'],
      ['7', 'EUR', 'failure'],
      ['0.1', 'CHF', 'success'],
    ] as const) {
      const paid = await fresh.pay({ integrationAddress: address })
      await fresh.update(paid, { state, invoice: { amount, currency, ...settled } })
    }
    const volume = /value">([\d.,]+ [A-Z]{3})<\/span><span class="dim">([^<]+)</g
    const volumes = async (range: string) =>
      [...(await load(`?range=${range}`)).matchAll(volume)].map(([, ...parts]) => parts.join(': '))
    const all = ['1,234,567.30 EUR: 2 payments', '0.1 CHF: 1 payment']
    expect(await volumes('15m')).toEqual(all)
    laterMs = 1_800_000
    expect(await volumes('15m')).toEqual([])
    for (const range of ['1h', '24h', '7d']) expect(await volumes(range), range).toEqual(all)
  })

  it('counts in its tile of payments the rows that the link lists', async () => {
    const { address } = await fresh.addIntegration()
    await fresh.advance((110_000 - (fresh.clock.now() % 60_000)) % 60_000)
    await fresh.pay({ integrationAddress: address })
    laterMs = 890_000
    const tile = /href="([^"]+)"><span class="name">Payments<\/span><span class="value">(\d+)</
    const [, href = '', count] = tile.exec(await load('?range=15m')) ?? []
    expect((await load(href)).match(/data-key=/g)?.length ?? 0).toBe(Number(count))
  })

  it('leads from the total of payments without a state to these', async () => {
    const { address } = await fresh.addIntegration()
    await fresh.pay({ integrationAddress: address })
    const [, href = ''] = /<a href="([^"]+)">1<\/a> no state/.exec(await load()) ?? []
    expect((await load(href)).match(/data-key=/g)).toHaveLength(1)
  })

  it('lists payments of equal block time in the order of data-order', async () => {
    const { address } = await fresh.addIntegration()
    for (const chainId of [137, 10]) await fresh.pay({ chainId, integrationAddress: address })
    const orders = [...(await load('/payments')).matchAll(/data-order="([^"]+)"/g)].map(([, order]) => order)
    expect([orders.length, orders]).toEqual([2, orders.toSorted().reverse()])
  })

  it('is not all well after failed attempts, though every endpoint answers again', async () => {
    let isDown = true
    const { address } = await fresh.addIntegration(() => new Response(null, { status: isDown ? 503 : 204 }))
    await fresh.pay({ integrationAddress: address })
    isDown = false
    await fresh.advance(60_000)
    const html = await load()
    expect(html).toMatch(/>1 of 2 attempts failed\.<\/strong>[^<]*last 15 min[^<]*<a href="\/console\/endpoints"/)
    expect(html).not.toContain('All well')
  })

  it('counts waiting deliveries by age, and each number leads to them', async () => {
    const { address } = await fresh.addIntegration(() => new Response(null, { status: 503 }))
    for (const ms of [7_200_000, 300_000, 0]) {
      await fresh.pay({ integrationAddress: address })
      await fresh.advance(ms)
    }
    const counts = /<(?:a|span) class="value"(?: href="([^"]+)")?>(\d+)<\/\w+><span class="dim">([^<]+)/g
    const ageCounts = [...((await load()).split('Deliveries waiting, by age')[1] ?? '').matchAll(counts)]
    expect(ageCounts.map(([, , count, age]) => `${age}: ${count}`)).toEqual([
      'under 1 min: 1',
      '1 to 10 min: 1',
      '10 min to 1 h: 0',
      'over 1 h: 1',
    ])
    const hrefs = ageCounts.flatMap(([, href]) => href ?? [])
    expect(hrefs).toHaveLength(3)
    for (const href of hrefs) expect((await load(href)).match(/data-key=/g)).toHaveLength(1)
  })
})

describe('a warning of the overview', () => {
  /** Loads the overview a while later, at each call. */
  function getOverview(changed: Partial<Twin['service']['queries']>) {
    let laterMs = 0
    const queries = { ...setup.twin.service.queries, ...changed }
    const opened = openChanged(setup.twin, { queries }, () => laterMs)
    return (ms = 1_000) => {
      laterMs += ms
      return opened.get('')
    }
  }

  it('counts missing deliveries among the newest 100,000 versions once, and leads to them', async () => {
    let examined = 0
    const load = getOverview({
      async findMissing({ beforeId = '1000000', limit }) {
        examined += limit
        return { examined: limit, missing: 1, lowestId: String(Number(beforeId) - limit) }
      },
    })
    await expect.poll(() => load(), { timeout: 60_000 }).toContain('50 deliveries are missing.')
    expect(examined).toBe(100_000)
    const html = await load()
    expect(html).toMatch(/href="[^"]*\/deliveries\?status=missing">Show missing deliveries/)
    expect(examined).toBe(100_000)
  })

  it('goes once a repair has made them due: they are counted again each minute while there are any', async () => {
    let [missing, calls] = [2, 0]
    const load = getOverview({
      async findMissing() {
        calls += 1
        return { examined: 5, missing, lowestId: '1' }
      },
    })
    await expect.poll(() => load(), { timeout: 60_000 }).toContain('deliveries are missing')
    missing = 0
    expect(await load(1)).toContain('deliveries are missing')
    await load(60_000)
    await expect.poll(() => load(), { timeout: 60_000 }).not.toContain('deliveries are missing')
    await load(600_000)
    expect(calls).toBe(2)
  })

  it('names the session of a database snapshot from five minutes on', async () => {
    const session = { holder: 'session', databaseUser: 'reporting', application: '<b>dashboard' } as const
    const load = (ageMs: number) => getOverview({ oldestSnapshot: async () => ({ ...session, ageMs }) })()
    expect(await load(299_999)).not.toContain('database snapshot has been open')
    expect(await load(300_000)).toContain('session &lt;b&gt;dashboard, database user reporting')
  })
})

it('the first step of a replay counts up to 100,000 deliveries, and says so beyond', async () => {
  const limits: (number | undefined)[] = []
  const countDeliveries = async (_: object, { atMost = 0 } = {}) => {
    limits.push(atMost)
    return atMost
  }
  const busy = openChanged(setup.twin, { queries: { ...setup.twin.service.queries, countDeliveries } })
  const html = await busy.get('/deliveries/replay?status=pending')
  expect(html).toContain('Replay more than 100,000 deliveries?')
  expect(limits).toEqual([100_001])
})
