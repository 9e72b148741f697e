/**
 * Makes and reads cursors, each bound to an integration and a list. Source: docs/interface.md 4.1;
 * docs/decisions/cursor.md.
 * @module
 */
import type { PaymentBody } from '@payment-integration/contract'
import { newestFirst } from '../builders/payments.js'

/** The list of a cursor. */
export interface ListName {
  readonly integration: string
  /** Lowercased, or empty for the list of all wallets. */
  readonly wallet: string
}

/** The cursor of the page after a payment. */
export function cursorAfter({ integration, wallet }: ListName, last: PaymentBody): string {
  const { blockTimestamp, chainId, txHash } = last
  return encode(JSON.stringify([integration, wallet, blockTimestamp, chainId, txHash]))
}

/** What follows the place of a token in a list that is newest first; null for a token that is none of this list. */
export function after(list: readonly PaymentBody[], name: ListName, cursor: string): PaymentBody[] | null {
  const place = read(cursor, name)
  return place === null ? null : list.filter((payment) => newestFirst(place, payment) < 0)
}

function read(cursor: string, { integration, wallet }: ListName): PaymentBody | null {
  try {
    const value: unknown = JSON.parse(atob(cursor.replaceAll('-', '+').replaceAll('_', '/')))
    if (!Array.isArray(value) || value.length !== 5 || value[0] !== integration || value[1] !== wallet) return null
    const [, , blockTimestamp, chainId, txHash] = value
    // Accepts only the exact text that this module writes: another spelling is a flaw too.
    return encode(JSON.stringify(value)) === cursor ? ({ blockTimestamp, chainId, txHash } as PaymentBody) : null
  } catch {
    return null
  }
}

function encode(text: string): string {
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
