/**
 * Page tokens: opaque to clients, bound to an integration and a list, the same 400 for every flaw. Source:
 * docs/interface.md 4.1; docs/decisions/cursor.md.
 * @module
 */
import type { PaymentBody } from '@payment-integration/contract'
import { newestFirst } from '../builders/payments.js'

/** Which list a token belongs to. */
export interface ListName {
  readonly integration: string
  /** Lowercased, or empty for the list of all. */
  readonly wallet: string
}

/** The token that goes on after a payment. */
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
    // Only a token that this module would write: another spelling of it is a flaw like any other.
    return encode(JSON.stringify(value)) === cursor ? ({ blockTimestamp, chainId, txHash } as PaymentBody) : null
  } catch {
    return null
  }
}

function encode(text: string): string {
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
