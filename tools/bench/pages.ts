/** Measures pages at different depths, per integration and per wallet, on SQLite. @module */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { NewPayment, PageQuery, Store } from '@payment-integration/core/ports'
import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
import { type Effort, type Measured, sideBySide } from './measure.js'

const integration = `0x${'a1'.repeat(20)}`
const wallet = `0x${'c3'.repeat(20)}`
const chainId = 31_337
const newest = 1_760_000_000_000
const pageSize = 50
/** Rows per transaction while the table is filled. */
const batch = 500

/** Fills a table with `size` payments of one integration, of which the wallet sent a quarter and received a quarter. */
export async function benchPages(
  size: number,
  effort: Effort,
): Promise<{ byIntegration: Measured[]; byWallet: Measured[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'))
  const store = createSqliteStore({ path: join(folder, 'bench.db') })
  try {
    await store.migrate()
    await fill(store, size)
    const lastWalletPage = Math.floor(size / 2 / pageSize)
    const depths = [1, Math.ceil(lastWalletPage / 2), lastWalletPage]
    const measure = (query: Omit<PageQuery, 'limit'>, rowsBetween: number) =>
      sideBySide(
        depths.map((page) => ({
          name: `page ${page}`,
          run: () => readPage(store, { ...query, limit: pageSize }, (page - 1) * pageSize * rowsBetween),
        })),
        effort,
      )
    const byIntegration = await measure({ integrationAddress: integration }, 1)
    const byWallet = await measure({ integrationAddress: integration, wallet }, 2)
    return { byIntegration, byWallet }
  } finally {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Reads the page after the newest `behind` payments, and checks that it is full. */
async function readPage(store: Store, query: PageQuery, behind: number): Promise<void> {
  const after = behind === 0 ? undefined : positionOf(behind - 1)
  const { payments } = await store.payments.list({ ...query, after })
  if (payments.length !== query.limit) throw new Error(`A page behind ${behind} payments has ${payments.length} rows.`)
}

async function fill(store: Store, size: number): Promise<void> {
  for (let from = 0; from < size; from += batch) {
    const payments = Array.from({ length: Math.min(batch, size - from) }, (_, index) => payment(from + index))
    await store.transaction((tx) => tx.upsertPayments(payments))
  }
}

/** The payment at a position in the order, 0 for the newest. */
function payment(place: number): NewPayment {
  const { blockTimestamp, txHash } = positionOf(place)
  const token = { address: `0x${'d4'.repeat(20)}`, symbol: 'USDC', decimals: 6 }
  return {
    primary: true,
    facts: {
      chainId,
      txHash,
      ordinal: 0,
      logIndex: 0,
      blockNumber: 10_000_000 - place,
      blockHash: `0x${place.toString(16).padStart(64, 'b')}`,
      blockTimestamp,
      router: { address: `0x${'e5'.repeat(20)}`, version: '0.8' },
      sender: place % 4 === 0 ? wallet : stranger(place),
      receiver: place % 4 === 2 ? wallet : stranger(place + 7),
      memoHex: `0x${'00'.repeat(32)}`,
      integrationAddress: integration,
      source: { chainId, txHash },
      tokenIn: { ...token, amount: 10_038_880n },
      tokenOut: { ...token, gross: 10_038_880n, net: 10_018_803n },
      pricing: { listedToken: null, feeds: [], calledAmount: null, serviceFee: null },
    },
  }
}

function stranger(place: number): string {
  return `0x${(place % 5_003).toString(16).padStart(40, 'f')}`
}

function positionOf(place: number) {
  return {
    blockTimestamp: newest - place * 1_000,
    chainId,
    txHash: `0x${place.toString(16).padStart(64, '0')}`,
    asOf: 0,
  }
}
