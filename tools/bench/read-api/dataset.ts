/** One million payments of nine integrations, and the keys to read them. @module */
import { createService, parseMasterKey, type Service, systemClock } from '@payment-integration/core'
import type { NewPayment, Store } from '@payment-integration/core/ports'

/** The integration that is measured: a fifth of all payments name it. */
export const integrationAddress = `0x${'a1'.repeat(20)}`
/** A wallet that sent a quarter of its payments and received another quarter. */
export const wallet = `0x${'c3'.repeat(20)}`
/** The chain of every payment. */
export const chainId = 10
/** The key outside the database; the databases live as long as a bench. */
export const masterKey = '00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f'

const newest = 1_760_000_000_000
const others = Array.from({ length: 8 }, (_, n) => `0x${(n + 1).toString(16).repeat(40)}`)
const usdc = { address: '0x0b2c639c533813f4aa9d7837caf62653d097ff85', symbol: 'USDC', decimals: 6 }
/** Rows per transaction while the tables are filled. */
const batch = 2_000

/** Credentials of a client. */
export interface Keys {
  /** Value of the Authorization header of the read API. */
  readonly basic: string
  /** The same of the legacy API. */
  readonly legacyKey: string
}

/** Fills an empty, migrated store and registers the measured integration and a legacy key. */
export async function fill(store: Store, size: number): Promise<Keys> {
  const service = serviceOn(store)
  const { apiSecret } = await service.integrations.create({ address: integrationAddress })
  const { apiKey } = await service.legacyKeys.create({ name: 'bench' })
  for (let from = 0; from < size; from += batch) {
    const payments = Array.from({ length: Math.min(batch, size - from) }, (_, index) => payment(from + index))
    await store.transaction((tx) => tx.upsertPayments(payments))
  }
  await store.transaction((tx) =>
    tx.setCheckpoint(chainId, { blockNumber: 20_000_000, blockHash: `0x${'f'.repeat(64)}` }),
  )
  return { basic: `Basic ${Buffer.from(`${integrationAddress}:${apiSecret}`).toString('base64')}`, legacyKey: apiKey }
}

/** The service on a store, without running loops. */
export function serviceOn(store: Store, now: () => number = Date.now): Service {
  const sender = { post: () => Promise.reject(new Error('Nothing is sent here.')) }
  return createService({ store, sender, masterKey: parseMasterKey(masterKey), clock: { ...systemClock, now } })
}

/**
 * Hash of the payment at a position in the order, 0 for the newest. Every fifth payment is the measured integration's.
 */
export function txHashAt(place: number): string {
  const scattered = (Math.imul(place + 1, 2_654_435_761) >>> 0).toString(16).padStart(8, '0')
  return `0x${scattered}${place.toString(16).padStart(56, '0')}`
}

/** Time of the payment at a position, in unix milliseconds. */
export function timestampAt(place: number): number {
  return newest - place * 1_000
}

function payment(place: number): NewPayment {
  const nth = Math.floor(place / 5)
  const measured = place % 5 === 0
  const txHash = txHashAt(place)
  return {
    primary: true,
    facts: {
      chainId,
      txHash,
      ordinal: 0,
      logIndex: 3,
      blockNumber: 10_000_000 - place,
      blockHash: `0x${place.toString(16).padStart(64, 'b')}`,
      blockTimestamp: timestampAt(place),
      router: { address: '0x1f7c4f45c8a398381616c74269f9fb8060e3ddc9', version: '0.8' },
      sender: measured && nth % 4 === 0 ? wallet : stranger(place),
      receiver: measured && nth % 4 === 2 ? wallet : stranger(place + 7),
      memoHex: `0x${Buffer.from(`order ${place}`).toString('hex').padEnd(64, '0')}`,
      integrationAddress: measured ? integrationAddress : (others[place % others.length] ?? null),
      source: { chainId, txHash },
      tokenIn: { ...usdc, amount: 10_038_880n },
      tokenOut: { ...usdc, gross: 10_038_880n, net: 10_018_803n },
      pricing: { listedToken: { symbol: 'USDC', currency: 'USD' }, feeds: [], calledAmount: null, serviceFee: null },
    },
  }
}

function stranger(place: number): string {
  return `0x${(place % 500_009).toString(16).padStart(40, 'f')}`
}
