/**
 * The `Yodl` event of router versions 0.3 to 0.9:
 * `Yodl(address indexed sender, address indexed receiver, address token, uint256 amount, uint256 fees, bytes32 memo)`.
 * Decoded by hand: an ABI library spends most of its time on address checksums that nobody here reads.
 * @module
 */

import { readIntegrationSuffix } from './integration-suffix.js'
import { wordAt, wordToAddress } from './internal/hex.js'
import type { DecodedPayment, MalformedLog, RouterDecoder, RouterLog } from './router-decoder.js'
import { readSwapCall } from './swap-call.js'

/** First topic of the `Yodl` event. */
export const yodlTopic = '0x34597715a6a440e45ac583030622c386dc1299eb0d4fc56eaa9eba541462bbcd'

const versions: ReadonlySet<string> = new Set(['0.3', '0.4', '0.5', '0.6', '0.7', '0.8', '0.9'])

/** Reads router versions 0.3 to 0.9, and the integration address from an ERC-8021 calldata suffix. */
export const yodlDecoder: RouterDecoder = {
  topic0: yodlTopic,
  reads: (version) => versions.has(version),
  decode,
  integrationAddress: readIntegrationSuffix,
  swapCall: readSwapCall,
}

function decode({ topics, data }: RouterLog): DecodedPayment | MalformedLog {
  if (topics.length !== 3) return malformed(`expected 3 topics, got ${topics.length}`)
  if (data.length !== 2 + 256) return malformed(`expected 128 bytes of data, got ${(data.length - 2) / 2}`)
  const sender = wordToAddress(topics[1]?.slice(2) ?? null)
  const receiver = wordToAddress(topics[2]?.slice(2) ?? null)
  const token = wordToAddress(wordAt(data, 0))
  if (sender === null || receiver === null || token === null)
    return malformed('sender, receiver or token is wider than an address')
  const gross = BigInt(`0x${wordAt(data, 32)}`)
  const fees = BigInt(`0x${wordAt(data, 64)}`)
  if (fees > gross) return malformed('fees are larger than the amount')
  return { kind: 'payment', sender, receiver, token, gross, net: gross - fees, memoHex: `0x${wordAt(data, 96)}` }
}

function malformed(reason: string): MalformedLog {
  return { kind: 'malformed', reason }
}
