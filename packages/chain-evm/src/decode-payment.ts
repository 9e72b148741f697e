/** Decodes the payment event: `Payment` of 0.1 and 0.2, `Yodl` of 0.3 to 0.9, with the same fields. @module */
import { uintAt, wordAt, wordToAddress } from './internal/hex.js'
import { malformed, unfit } from './internal/log-shape.js'
import { nativeTokenAddress } from './native-token.js'
import type { DecodedPayment, MalformedLog, RouterLog } from './router-decoder.js'

/**
 * Decodes `(address indexed sender, address indexed receiver, address token, uint256 amount, uint256 fees, bytes32
 * memo)`. `amount` is gross; `fees` is the sum of all fees.
 * @param bridges - Whether the router also deposits into a bridge: free of charge, and never in the native token.
 */
export function decodePayment(log: RouterLog, bridges: boolean): DecodedPayment | MalformedLog {
  const { topics, data } = log
  const flaw = unfit(log, 3, 4)
  if (flaw !== null) return flaw
  const sender = wordToAddress(topics[1]?.slice(2) ?? null)
  const receiver = wordToAddress(topics[2]?.slice(2) ?? null)
  const token = wordToAddress(wordAt(data, 0))
  if (sender === null || receiver === null || token === null)
    return malformed('sender, receiver or token is wider than an address')
  const gross = uintAt(data, 32)
  const fees = uintAt(data, 64)
  if (gross === null || fees === null || fees > gross) return malformed('fees are larger than the amount')
  const provedBy = bridges && fees === 0n && token !== nativeTokenAddress ? 'transfer' : 'event'
  const memoHex = `0x${wordAt(data, 96)}`
  return { kind: 'payment', sender, receiver, token, gross, net: gross - fees, memoHex, provedBy }
}
