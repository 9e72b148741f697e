/** The Transfer logs of ERC-20 tokens. @module */
import type { ReceiptLog } from './internal/answers.js'
import { uintAt, wordToAddress } from './internal/hex.js'

/** `Transfer(address indexed from, address indexed to, uint256 value)`. */
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** A transfer in base units of the token. Addresses are lowercase. */
export interface Transfer {
  readonly token: string
  readonly from: string
  readonly to: string
  readonly amount: bigint
}

/** Reads a log as a transfer of the contract that emitted it; null when it is none. */
export function readTransfer({ address, topics, data }: ReceiptLog): Transfer | null {
  if (topics[0] !== transferTopic || topics.length !== 3) return null
  const from = wordToAddress(topics[1]?.slice(2) ?? null)
  const to = wordToAddress(topics[2]?.slice(2) ?? null)
  const amount = uintAt(data, 0)
  return from === null || to === null || amount === null ? null : { token: address, from, to, amount }
}
