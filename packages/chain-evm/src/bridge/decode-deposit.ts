/**
 * The deposit events of the Across SpokePool. Source: across-protocol/contracts, `V3SpokePoolInterface.sol`.
 * `FundsDeposited` has 32-byte words where the former `V3FundsDeposited` has addresses, in the same positions.
 * @module
 */
import type { ReceiptLog } from '../internal/answers.js'
import { uintAt, wordAt, wordToAddress } from '../internal/hex.js'

/** First topics of deposit events, lowercase. */
export const depositTopics: ReadonlySet<string> = new Set([
  // FundsDeposited
  '0x32ed1a409ef04c7b0227189c3a103dc5ac10e775a15b785dcc510201f7c25ad3',
  // V3FundsDeposited
  '0xa123dc29aebf7d0c3322c8eeb5b999e859f39937950ed31056532713d0de396f',
])

/** A deposit, as in its event. Addresses are lowercase, amounts in base units. */
export interface Deposit {
  /** In decimal digits. */
  readonly depositId: string
  readonly destinationChainId: number
  readonly depositor: string
  readonly recipient: string
  readonly input: { readonly token: string; readonly amount: bigint }
  readonly output: { readonly token: string; readonly amount: bigint }
}

const noToken = `0x${'00'.repeat(20)}`
/** Destination chain, deposit and depositor are indexed. */
const topicCount = 4

/**
 * Decodes a log as a deposit.
 * @returns Null when it is none, or its destination has no EVM addresses. Null also when it leaves open the token to
 * arrive, because its fill could not be recognised. It never throws.
 */
export function decodeDeposit({ topics, data }: ReceiptLog): Deposit | null {
  if (!depositTopics.has(topics[0] ?? '') || topics.length !== topicCount) return null
  const destinationChainId = Number(topics[1])
  const depositor = wordToAddress(topics[3]?.slice(2) ?? null)
  const inputToken = addressAt(data, 0)
  const outputToken = addressAt(data, 1)
  const inputAmount = uintAt(data, 2 * 32)
  const outputAmount = uintAt(data, 3 * 32)
  const recipient = addressAt(data, 7)
  if (!Number.isSafeInteger(destinationChainId) || depositor === null || recipient === null) return null
  if (inputToken === null || inputAmount === null || outputAmount === null) return null
  if (outputToken === null || outputToken === noToken) return null
  return {
    depositId: BigInt(topics[2] ?? '').toString(),
    destinationChainId,
    depositor,
    recipient,
    input: { token: inputToken, amount: inputAmount },
    output: { token: outputToken, amount: outputAmount },
  }
}

function addressAt(data: string, index: number): string | null {
  return wordToAddress(wordAt(data, index * 32))
}
