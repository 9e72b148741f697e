/** The transactions of payments, found in the bytes of the answer for their block: the others never become objects. @module */
import type { TransactionLogs } from './group-logs.js'
import type { TransactionFacts } from './internal/answers.js'
import { isLowerHex, isWord, toAddress } from './internal/hex.js'
import { isKey, isText, type ResultReader, skipValue, textAt, walkList, walkObject } from './internal/json-bytes.js'

/** Those that were asked for, in order. No answer of a node can be one. */
export class PayingCalls {
  readonly transactions: TransactionFacts[] = []
}

/**
 * Reads the answer for a block with its transactions: as {@link PayingCalls}, when it holds all that are asked for, in their order and in lowercase, each
 * of the block that its logs came from. Anything else is left to whoever says what is wrong with it.
 * @param groups - The transactions of one block, by log index.
 */
export function payingCallsReader(groups: readonly TransactionLogs[]): ResultReader {
  const blockHashes = new Set(groups.flatMap(({ payments }) => payments.map(({ log }) => log.blockHash)))
  const [blockHash = ''] = blockHashes
  return (bytes, at) => {
    const found = new PayingCalls()
    const end = walkObject(bytes, at, (key, length, value) =>
      isKey(bytes, key, length, 'transactions')
        ? walkList(bytes, value, (place) => readCall(bytes, place, groups, blockHash, found.transactions))
        : skipValue(bytes, value),
    )
    const isWhole = found.transactions.length === groups.length && blockHashes.size === 1
    return end === -1 || !isWhole ? null : { value: found, end }
  }
}

/** Takes the transaction at a place when it is the next one that is asked for. */
function readCall(
  bytes: Buffer,
  at: number,
  groups: readonly TransactionLogs[],
  blockHash: string,
  into: TransactionFacts[],
): number {
  const hash = groups[into.length]?.txHash
  if (hash === undefined) return skipValue(bytes, at)
  let isNext = false
  let isOfBlock = false
  let from: string | null = null
  let to: string | null = null
  let value: string | null = null
  let input: string | null = null
  const end = walkObject(bytes, at, (key, length, place) => {
    switch (length) {
      case 2:
        if (isKey(bytes, key, length, 'to')) to = textAt(bytes, place)
        break
      case 4:
        if (isKey(bytes, key, length, 'hash')) isNext = isText(bytes, place, hash)
        else if (isKey(bytes, key, length, 'from')) from = textAt(bytes, place)
        break
      case 5:
        if (isKey(bytes, key, length, 'value')) value = textAt(bytes, place)
        else if (isKey(bytes, key, length, 'input')) input = textAt(bytes, place)
        break
      case 9:
        if (isKey(bytes, key, length, 'blockHash')) isOfBlock = isText(bytes, place, blockHash)
        break
    }
    return skipValue(bytes, place)
  })
  if (!isNext) return end
  if (!isOfBlock || toAddress(from) !== from || from === null || toAddress(to) !== to) return -1
  if (!isLowerHex(value) || !isWord(value) || !isLowerHex(input)) return -1
  into.push({ hash, blockHash, from, to, value: value === '0x0' ? 0n : BigInt(value), input })
  return end
}
