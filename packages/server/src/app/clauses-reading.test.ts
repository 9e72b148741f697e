/** docs/interface.md 2.2 and 4.1: pages and look-ups over HTTP. */
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
let keeper: Shop
let neighbor: Shop
const everything: Row[] = []
/** 205 payments of the shop, on two chains, ten to a second; all from or to one wallet. */
beforeAll(async () => {
  clauses = await startClauses({ chainIds: [1, 9, 10] })
  shop = await clauses.createShop(wallet('Ab'))
  keeper = await clauses.createShop(wallet('Cd'))
  neighbor = await clauses.createShop(wallet('De'))
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
  clauses.chain(10).mine([{ txHash: shared, integrationAddress: neighbor.address, sender: payer }])
}

const get = (path: string, { authorization }: Shop = keeper) => clauses.get(path, authorization)
async function page(path: string): Promise<Page> {
  const { status, body } = await get(path, shop)
  expect([status, Object.keys(body as object).sort()]).toEqual([200, ['nextCursor', 'payments']])
  return body as Page
}

describe.each(['payments', `wallet/${alice}/payments`])('the list %s', (list) => {
  it('has 50 payments without a limit, and an opaque cursor for more', async () => {
    const { payments, nextCursor } = await page(list)
    expect(payments.map(getKey)).toEqual(everything.slice(0, 50).map(getKey))
    expect(nextCursor).toEqual(expect.any(String))
  })

  it.each([41, 200])('in pages of %i has every payment once, by time, chain and hash descending', async (limit) => {
    const pages = [await page(`${list}?limit=${limit}`)]
    for (let last = pages[0]; last?.nextCursor; last = pages.at(-1))
      pages.push(await page(`${list}?limit=${limit}&cursor=${last.nextCursor}`))
    expect(pages.flatMap(({ payments }) => payments.map(getKey))).toEqual(everything.map(getKey))
    expect(pages.map(({ payments }) => payments.length)).toEqual(limit === 41 ? Array(5).fill(41) : [200, 5])
  })
})

describe('a single look-up', () => {
  it.each(['payments', `wallet/${payer}/payments`])(
    '%s/{txHash} is one object, in no array and no page, and takes no source-chain hash as a key',
    async (list) => {
      const { status, body } = await get(`${list}/${destination}`)
      expect(status).toBe(200)
      expect(body).toMatchObject({ txHash: destination, chainId: '1', source: { chainId: '9', txHash: source } })
      expect(body).not.toHaveProperty('payments')
      expect((await get(`${list}/${source}`)).status).toBe(404)
    },
  )

  it('by wallet finds a payment from either side, in any case of the address, and from no other wallet', async () => {
    const ask = async (address: string) => (await get(`wallet/${address}/payments/${destination}`)).status
    const wallets = [payer, payee, `0x${payer.slice(2).toUpperCase()}`, wallet('C2'), wallet('c5')]
    expect(await Promise.all(wallets.map(ask))).toEqual([200, 200, 200, 200, 404])
  })

  it('of a hash on two chains is 409, and also 409 by wallet when both payments match the wallet', async () => {
    const paths = ['payments', ...[payee, wallet('c3'), wallet('c4')].map((each) => `wallet/${each}/payments`)]
    const answers = await Promise.all(paths.map((path) => get(`${path}/${twice}`)))
    expect(answers.map(({ status }) => status)).toEqual([409, 409, 200, 200])
    expect(answers.slice(2).map(({ body }) => body)).toMatchObject([{ chainId: '9' }, { chainId: '10' }])
  })

  it('of a hash that another integration has on another chain is not ambiguous: each gets its own', async () => {
    for (const list of ['payments', `wallet/${payer}/payments`]) {
      expect((await get(`${list}/${shared}`)).body).toMatchObject({ chainId: '9' })
      expect((await get(`${list}/${shared}`, neighbor)).body).toMatchObject({ chainId: '10' })
    }
  })
})
