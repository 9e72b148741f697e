/**
 * Decodes the deposit and fill events of the Across SpokePool. Source: across-protocol/contracts,
 * `V3SpokePoolInterface.sol`.
 * @module
 */

import type { BridgeDeposit } from '@payment-integration/core/ports'
import type { ReceiptLog } from '../rpc/answers.js'
import { uintAt, wordAt, wordToAddress, wordToOffset } from '../rpc/hex.js'

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

// The fill events of the Across SpokePool. Source: across-protocol/contracts, `V3SpokePoolInterface.sol`.
//
// Anybody can fill a deposit that was never made, if he pays for it. A depositor can sign away the promise of a real
// one, so the updated recipient and amount are the paid ones.

/** `FilledRelay`: the updated recipient and amount are in place. */
const filledRelayTopic = '0x44b559f101f8fbcc8a0ea43fa91a05a729a5ea6e14a7c75aa750374690137208'
/** `FilledV3Relay`, its former shape: they are in a struct behind an offset. */
const filledV3RelayTopic = '0x571749edf1d5c9599318cdbc4e28a6475d65e87fd3b2ddbe1e9a8d5e7a0f0ff7'

/** First topics of fill events. */
export const fillTopics: readonly string[] = [filledRelayTopic, filledV3RelayTopic]

/** A fill, as in its event. Addresses are lowercase, amounts in base units. */
export interface Fill {
  readonly originChainId: bigint
  readonly depositId: bigint
  readonly depositor: string
  /** As deposited. */
  readonly recipient: string
  readonly input: { readonly token: string; readonly amount: bigint }
  readonly outputToken: string
  /** Who was paid, and how much. */
  readonly paidTo: string
  readonly paidAmount: bigint
}

/** Origin chain, deposit and relayer are indexed. */
const fillTopicCount = 4

/** Reads a log as a fill; null when it is none, or not between EVM addresses. It never throws. */
export function decodeFill({ topics, data }: ReceiptLog): Fill | null {
  if (!fillTopics.includes(topics[0] ?? '') || topics.length !== fillTopicCount) return null
  const paid = topics[0] === filledRelayTopic ? 11 * 32 : wordToOffset(wordAt(data, 11 * 32))
  if (paid === null) return null
  const inputToken = fillAddressAt(data, 0)
  const outputToken = fillAddressAt(data, 32)
  const inputAmount = uintAt(data, 2 * 32)
  const depositor = fillAddressAt(data, 8 * 32)
  const recipient = fillAddressAt(data, 9 * 32)
  const paidTo = fillAddressAt(data, paid)
  const paidAmount = uintAt(data, paid + 2 * 32)
  if (inputToken === null || outputToken === null || inputAmount === null) return null
  if (depositor === null || recipient === null || paidTo === null || paidAmount === null) return null
  return {
    originChainId: BigInt(topics[1] ?? ''),
    depositId: BigInt(topics[2] ?? ''),
    depositor,
    recipient,
    input: { token: inputToken, amount: inputAmount },
    outputToken,
    paidTo,
    paidAmount,
  }
}

function fillAddressAt(data: string, offset: number): string | null {
  return wordToAddress(wordAt(data, offset))
}

/**
 * Whether a fill is of a deposit: both events agree, and the receiver got the promised token and at least the amount.
 */
export function fulfils(fill: Fill, { payment, depositId, receiver, output }: BridgeDeposit): boolean {
  return (
    fill.originChainId === BigInt(payment.source.chainId) &&
    fill.depositId === BigInt(depositId) &&
    fill.depositor === payment.sender &&
    fill.recipient === receiver &&
    fill.input.token === payment.tokenOut.address &&
    fill.input.amount === payment.tokenOut.gross &&
    fill.outputToken === output.token &&
    fill.paidTo === receiver &&
    fill.paidAmount >= output.amount
  )
}
