/**
 * docs/interface.md 2.2, 4.1 and the read API's part of 7, clause by clause: pages, look-ups and refusals over HTTP.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Clauses, type Shop, startClauses } from '../../test/support/clause-service.js'

interface Row {
  readonly chainId: string
  readonly txHash: string
  readonly blockTimestamp: string
}
interface Page {
  readonly payments: readonly Row[]
  readonly nextCursor: string | null
}

const wallet = (byte: string) => `0x${byte.repeat(20)}`
const alice = wallet('a1')
const hash = (number: number) => `0x${number.toString(16).padStart(64, '0')}`
/** Scattered, so that neither the order of arrival nor that of the hashes is the order of a page. */
const scattered = (number: number) => hash((number * 7_919) % 100_003)
const getKey = ({ chainId, txHash }: Row) => `${chainId}:${txHash}`

/** Newest first by (blockTimestamp, chainId, txHash), all descending. */
function newestFirst(a: Row, b: Row): number {
  if (a.blockTimestamp !== b.blockTimestamp) return a.blockTimestamp < b.blockTimestamp ? 1 : -1
  if (a.chainId !== b.chainId) return Number(b.chainId) - Number(a.chainId)
  return a.txHash < b.txHash ? 1 : -1
}

let clauses: Clauses
let shop: Shop
let other: Shop
let keeper: Shop
let neighbour: Shop
const everything: Row[] = []
/** 205 payments of the shop, on two chains, ten to a second; all from or to one wallet. */
beforeAll(async () => {
  clauses = await startClauses({ chainIds: [1, 9, 10] })
  shop = await clauses.createShop(wallet('Ab'))
  other = await clauses.createShop(wallet('Bc'))
  keeper = await clauses.createShop(wallet('Cd'))
  neighbour = await clauses.createShop(wallet('De'))
  const integrationAddress = shop.address
  for (let number = 0; number < 205; number += 5) {
    const chainId = number % 2 === 0 ? 9 : 10
    const timestamp = Date.UTC(2026, 0, 5) + Math.floor(number / 10) * 1_000
    const payments = [0, 1, 2, 3, 4].map((index) => {
      const side = index % 2 === 0 ? { sender: alice } : { receiver: alice }
      return { txHash: scattered(number + index), integrationAddress, ...side }
    })
    clauses.chain(chainId).mine(payments, timestamp)
    const blockTimestamp = new Date(timestamp).toISOString()
    for (const { txHash } of payments) everything.push({ chainId: String(chainId), txHash, blockTimestamp })
  }
  minePaymentsToLookUp()
  await clauses.index()
  everything.sort(newestFirst)
})
afterAll(() => clauses.stop())

const [destination, source, twice, shared] = [hash(700_001), hash(700_002), hash(700_003), hash(700_004)]
const [payer, payee] = [wallet('c1'), wallet('c2')]
/** Payments of a separate integration: a bridged one, one hash on two chains, one hash of two integrations. */
function minePaymentsToLookUp(): void {
  const integrationAddress = keeper.address
  const bridged = { txHash: destination, source: { chainId: 9, txHash: source }, integrationAddress }
  clauses.chain(1).mine([{ ...bridged, sender: payer, receiver: payee }])
  clauses.chain(9).mine([{ txHash: twice, integrationAddress, sender: wallet('c3'), receiver: payee }])
  clauses.chain(10).mine([{ txHash: twice, integrationAddress, sender: wallet('c4'), receiver: payee }])
  clauses.chain(9).mine([{ txHash: shared, integrationAddress, sender: payer }])
  clauses.chain(10).mine([{ txHash: shared, integrationAddress: neighbour.address, sender: payer }])
}

const get = (path: string, { authorization }: Shop = shop) => clauses.get(path, authorization)
async function page(path: string, by: Shop = shop): Promise<Page> {
  const answer = await get(path, by)
  expect(answer.status).toBe(200)
  return answer.body as Page
}
/** Every row of a list, page after page; `between` runs after each page. */
async function walk(list: string, limit: number, between: () => Promise<void> = async () => undefined) {
  const rows: Row[] = []
  for (let cursor: string | null = null, first = true; first || cursor !== null; first = false) {
    const { payments, nextCursor } = await page(`${list}?limit=${limit}${cursor === null ? '' : `&cursor=${cursor}`}`)
    expect(payments.length).toBeLessThanOrEqual(limit)
    rows.push(...payments)
    cursor = nextCursor
    await between()
  }
  return rows
}

describe.each(['payments', `wallet/${alice}/payments`])('the list %s', (list) => {
  it('has 50 payments without a limit, and an opaque cursor for more', async () => {
    const { payments, nextCursor } = await page(list)
    expect(payments.map(getKey)).toEqual(everything.slice(0, 50).map(getKey))
    expect(nextCursor).toEqual(expect.any(String))
    expect(Object.keys((await get(list)).body as object).sort()).toEqual(['nextCursor', 'payments'])
  })

  it('has one payment for limit 1 and 200 for limit 200', async () => {
    for (const limit of [1, 200]) expect((await page(`${list}?limit=${limit}`)).payments).toHaveLength(limit)
  })

  it.each(['0', '201', '1000', '-1', '1.5', '2.0', '1e1', '0x10', 'ten', 'NaN', '', '%20'])(
    'rejects limit=%s with 400 and maxLimit, and never caps silently',
    async (limit) => {
      const { status, body } = await get(`${list}?limit=${limit}`)
      expect([status, body]).toEqual([400, { error: expect.any(String), maxLimit: 200 }])
    },
  )

  it.each([1, 7, 41, 200])(
    'in pages of %i has every payment once, by time, chain and hash descending',
    async (limit) => {
      // Pages of one payment stop early: 205 requests prove no more than 30.
      if (limit > 1) expect((await walk(list, limit)).map(getKey)).toEqual(everything.map(getKey))
      else {
        let cursor = ''
        for (const expected of everything.slice(0, 30)) {
          const { payments, nextCursor } = await page(`${list}?limit=1${cursor}`)
          expect(payments.map(getKey)).toEqual([getKey(expected)])
          cursor = `&cursor=${nextCursor}`
        }
      }
    },
  )

  it('has null as the cursor of its last page, also when that page is full', async () => {
    const first = await page(`${list}?limit=200`)
    const rest = everything.slice(200)
    const last = await page(`${list}?limit=${rest.length}&cursor=${first.nextCursor}`)
    expect(last.payments.map(getKey)).toEqual(rest.map(getKey))
    expect(last.nextCursor).toBeNull()
  })

  it('rejects a changed or handmade cursor with 400', async () => {
    const cursor = String((await page(`${list}?limit=1`)).nextCursor)
    const last = everything[0]
    const readable = Buffer.from(`${last?.blockTimestamp}|${last?.chainId}|${last?.txHash}`).toString('base64url')
    const changed = [0, 5, 20, 40, 60, cursor.length - 2].map(
      (at) => cursor.slice(0, at) + (cursor[at] === 'A' ? 'B' : 'A') + cursor.slice(at + 1),
    )
    for (const bad of [...changed, cursor.slice(1), `${cursor}A`, readable, last?.txHash, '0', 'null', '']) {
      const { status, body } = await get(`${list}?cursor=${bad}`)
      expect([status, body], String(bad)).toEqual([400, { error: expect.any(String) }])
    }
    expect((await get(`${list}?cursor=${cursor}`)).status).toBe(200)
  })

  it('stays complete for a reader while newer payments arrive', async () => {
    const before = everything.map(getKey)
    let arrived = 0
    const rows = await walk(list, 50, async () => {
      arrived += 1
      const payment = { txHash: hash(500_000 + everything.length), integrationAddress: shop.address, sender: alice }
      const timestamp = Date.UTC(2026, 1, 1) + everything.length * 1_000
      clauses.chain(10).mine([payment], timestamp)
      everything.unshift({ chainId: '10', txHash: payment.txHash, blockTimestamp: new Date(timestamp).toISOString() })
      await clauses.index()
    })
    expect(arrived).toBeGreaterThan(3)
    expect(rows.map(getKey)).toEqual(before)
  })

  it('is an empty page without a cursor when nothing matches', async () => {
    const empty = { payments: [], nextCursor: null }
    expect(await page(list, other)).toEqual(empty)
    expect(await page(`wallet/${wallet('ee')}/payments`)).toEqual(empty)
  })
})

describe('reconciliation', () => {
  it('by paging until a stored payment finds every new one, identified by chain and hash', async () => {
    const known = new Set((await walk('payments', 200)).map(getKey))
    const txHash = hash(900_001)
    const timestamp = Date.UTC(2026, 2, 1)
    for (const chainId of [9, 10])
      clauses.chain(chainId).mine([{ txHash, integrationAddress: shop.address }], timestamp)
    clauses.chain(10).mine([{ txHash: hash(900_002), integrationAddress: shop.address }], timestamp + 1_000)
    await clauses.index()
    const found: string[] = []
    for (let cursor: string | null = null, done = false; !done; ) {
      const { payments, nextCursor }: Page = await page(`payments?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`)
      const fresh = payments.map(getKey).filter((key) => !known.has(key))
      found.push(...fresh)
      done = fresh.length < payments.length || nextCursor === null
      cursor = nextCursor
    }
    expect(found).toEqual([`10:${hash(900_002)}`, `10:${txHash}`, `9:${txHash}`])
  })
})

describe('a single look-up', () => {
  it.each(['payments', `wallet/${payer}/payments`])(
    '%s/{txHash} is one object, in no array and no page',
    async (list) => {
      const { status, body } = await get(`${list}/${destination}`, keeper)
      expect(status).toBe(200)
      expect(Array.isArray(body)).toBe(false)
      expect(body).toMatchObject({ txHash: destination, chainId: '1', source: { chainId: '9', txHash: source } })
      expect(body).not.toHaveProperty('payments')
      expect(body).not.toHaveProperty('nextCursor')
    },
  )

  it.each(['payments', `wallet/${payer}/payments`])('%s/{txHash} takes no source-chain hash as a key', async (list) => {
    const { status, body } = await get(`${list}/${source}`, keeper)
    expect([status, body]).toEqual([404, { error: expect.any(String) }])
  })

  it('by wallet finds a payment from either side, in any case of the address, and from no other wallet', async () => {
    for (const address of [payer, payee, `0x${payer.slice(2).toUpperCase()}`, wallet('C2')])
      expect((await get(`wallet/${address}/payments/${destination}`, keeper)).body).toMatchObject({
        txHash: destination,
      })
    const { status, body } = await get(`wallet/${wallet('c5')}/payments/${destination}`, keeper)
    expect([status, body]).toEqual([404, { error: expect.any(String) }])
  })

  it('of a hash on two chains is 409, and also 409 by wallet when both payments match the wallet', async () => {
    for (const path of [`payments/${twice}`, `wallet/${payee}/payments/${twice}`]) {
      const { status, body } = await get(path, keeper)
      expect([status, body]).toEqual([409, { error: expect.any(String) }])
    }
    for (const [address, chainId] of [
      [wallet('c3'), '9'],
      [wallet('c4'), '10'],
    ])
      expect((await get(`wallet/${address}/payments/${twice}`, keeper)).body).toMatchObject({ chainId })
  })

  it('of a hash that another integration has on another chain is not ambiguous: each gets its own', async () => {
    for (const list of ['payments', `wallet/${payer}/payments`]) {
      expect((await get(`${list}/${shared}`, keeper)).body).toMatchObject({ chainId: '9' })
      expect((await get(`${list}/${shared}`, neighbour)).body).toMatchObject({ chainId: '10' })
    }
  })
})

describe('every answer', () => {
  it.each([
    ['payments', 200],
    [`payments/${destination}`, 200],
    ['payments?limit=0', 400],
    ['payments?cursor=x', 400],
    ['payments/0x12', 400],
    [`payments/${hash(1).slice(2)}`, 400],
    ['wallet/0x12/payments', 400],
    [`wallet/${hash(1)}/payments`, 400],
    [`wallet/0x12/payments/${hash(1)}`, 400],
    [`wallet/${alice}/payments/0x12`, 400],
    [`payments/${hash(999_999)}`, 404],
    [`wallet/${alice}/payments/${hash(999_999)}`, 404],
    [`payments/${twice}`, 409],
  ])('to %s is %i, with no-store, and an error has no other field', async (path, status) => {
    const answer = await get(path, keeper)
    expect(answer.status).toBe(status)
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
    expect(answer.headers.get('content-type')).toBe('application/json')
    if (status === 200) return
    const limit = path.includes('limit=') ? { maxLimit: 200 } : {}
    expect(answer.body).toEqual({ error: expect.any(String), ...limit })
    expect((answer.body as { error: string }).error).not.toBe('')
  })
})
