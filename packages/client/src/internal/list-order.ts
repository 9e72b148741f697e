/** The order of every list. Source: docs/interface.md 4.1 (keyset, by blockTimestamp, chainId and txHash, descending). @module */
import type { Payment } from '../payment.js'

/** What a list is ordered by. */
export type ListPlace = Pick<Payment, 'blockTimestamp' | 'chainId' | 'txHash'>

/** Whether `place` comes after `other` in a list, newest first. Chain ids compare as numbers, hashes as text. */
export function isOlder(place: ListPlace, other: ListPlace): boolean {
  const gap = Date.parse(place.blockTimestamp) - Date.parse(other.blockTimestamp)
  if (gap !== 0) return gap < 0
  const [chain, otherChain] = [BigInt(place.chainId), BigInt(other.chainId)]
  return chain === otherChain ? place.txHash < other.txHash : chain < otherChain
}
