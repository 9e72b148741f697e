/** The order of every list: blockTimestamp, chainId, txHash, descending. Source: docs/interface.md 4.1. @module */
import type { Payment } from '../payment.js'

/** The keyset position of a payment. */
export type ListPosition = Pick<Payment, 'blockTimestamp' | 'chainId' | 'txHash'>

/** Whether `position` comes after `other` in a list, newest first. Chain ids compare as numbers, hashes as text. */
export function isOlder(position: ListPosition, other: ListPosition): boolean {
  const gapMs = Date.parse(position.blockTimestamp) - Date.parse(other.blockTimestamp)
  if (gapMs !== 0) return gapMs < 0
  const [chain, otherChain] = [BigInt(position.chainId), BigInt(other.chainId)]
  return chain === otherChain ? position.txHash < other.txHash : chain < otherChain
}
