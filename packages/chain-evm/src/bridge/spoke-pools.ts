/**
 * Decodes the deposits and fills of the Across bridge's SpokePools.
 * Source: across-protocol/contracts, `V3SpokePoolInterface.sol`; docs/decisions/cross-chain.md.
 * @module
 */
import type { BridgeDeposit } from '@payment-integration/core/ports'
import type { DecodedPayment } from '../decode/router-decoder.js'
import type { ReceiptLog } from '../rpc/answers.js'
import { uintAt, wordAt, wordToAddress, wordToOffset, zeroAddress } from '../rpc/hex.js'

const depositTopics: ReadonlySet<string> = new Set([
  // FundsDeposited
  '0x32ed1a409ef04c7b0227189c3a103dc5ac10e775a15b785dcc510201f7c25ad3',
  // V3FundsDeposited
  '0xa123dc29aebf7d0c3322c8eeb5b999e859f39937950ed31056532713d0de396f',
])

/** The signature and three indexed fields, in deposits and in fills. */
const topicCount = 4

/**
 * Decodes a log as a deposit: lowercase addresses, amounts in base units, the id in decimal digits. Null for another
 * log, for a destination without EVM addresses, and for a deposit that leaves the output token open: its fill could not
 * be recognized.
 */
function decodeDeposit({ topics, data }: ReceiptLog) {
  if (!depositTopics.has(topics[0] ?? '') || topics.length !== topicCount) return null
  const destinationChainId = Number(topics[1])
  const depositor = wordToAddress(topics[3]?.slice(2) ?? null)
  const inputToken = addressAt(data, 0)
  const outputToken = addressAt(data, 32)
  const inputAmount = uintAt(data, 2 * 32)
  const outputAmount = uintAt(data, 3 * 32)
  const recipient = addressAt(data, 7 * 32)
  if (!Number.isSafeInteger(destinationChainId) || depositor === null || recipient === null) return null
  if (inputToken === null || inputAmount === null || outputAmount === null) return null
  if (outputToken === null || outputToken === zeroAddress) return null
  return {
    depositId: BigInt(topics[2] ?? '').toString(),
    destinationChainId,
    depositor,
    recipient,
    input: { token: inputToken, amount: inputAmount },
    output: { token: outputToken, amount: outputAmount },
  }
}

function addressAt(data: string, offset: number): string | null {
  return wordToAddress(wordAt(data, offset))
}

// A fill does not prove a deposit: anybody can fill a deposit that was never made. A depositor may change recipient
// and amount by signature, so the updated values count.

/** `FilledRelay`: the updated recipient and amount are words of the event. */
const filledRelayTopic = '0x44b559f101f8fbcc8a0ea43fa91a05a729a5ea6e14a7c75aa750374690137208'
/** `FilledV3Relay`, the earlier event: the updated recipient and amount are in a struct. */
const filledV3RelayTopic = '0x571749edf1d5c9599318cdbc4e28a6475d65e87fd3b2ddbe1e9a8d5e7a0f0ff7'

export const fillTopics: readonly string[] = [filledRelayTopic, filledV3RelayTopic]

/**
 * Decodes a log as a fill: lowercase addresses, amounts in base units; null for another log, and for addresses that are
 * not EVM addresses. `recipient` is the one that the deposit named; `paidTo` was paid.
 */
export function decodeFill({ topics, data }: ReceiptLog) {
  if (!fillTopics.includes(topics[0] ?? '') || topics.length !== topicCount) return null
  const paidOffset = topics[0] === filledRelayTopic ? 11 * 32 : wordToOffset(wordAt(data, 11 * 32))
  if (paidOffset === null) return null
  const inputToken = addressAt(data, 0)
  const outputToken = addressAt(data, 32)
  const inputAmount = uintAt(data, 2 * 32)
  const depositor = addressAt(data, 8 * 32)
  const recipient = addressAt(data, 9 * 32)
  const paidTo = addressAt(data, paidOffset)
  const paidAmount = uintAt(data, paidOffset + 2 * 32)
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

export type Fill = NonNullable<ReturnType<typeof decodeFill>>

/** Whether a fill agrees with a deposit, and the receiver got the promised token and at least the promised amount. */
export function isFillOf(fill: Fill, { payment, depositId, receiver, output }: BridgeDeposit): boolean {
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

// Deployed SpokePools of the Across bridge: proxies that survive upgrades, lowercased. Across has none on chain 100.
// Facts from across-protocol/contracts, `broadcast/deployed-addresses.json` at 8ab0730 (June 2026).

const spokePoolsByChain: Readonly<Record<number, readonly string[]>> = {
  1: ['0x5c7bcd6e7de5423a257d81b442095a1a6ced35c5'],
  10: ['0x6f26bf09b1c792e3228e5467807a900a503c0281'],
  56: ['0x4e8e101924ede233c13e2d8622dc8aed2872d505'],
  137: ['0x9295ee1d8c5b022be115a2ad3c30c72e34e7f096'],
  8453: ['0x09aea4b2242abc8bb4bb78d537a67a245a7bec64'],
  42161: ['0xe35e9842fceaca96570b734083f4a58e8f7c5f2a'],
}

/** The known SpokePools of a chain, lowercased, which `createEvmChain` trusts; empty for an unknown chain. */
export function knownSpokePools(chainId: number): readonly string[] {
  return spokePoolsByChain[chainId] ?? []
}

/** `yodlWithAcross` of versions 0.8 and 0.9. */
const acrossSelector = '0xde537614'

export function isBridgeCall(calldata: string): boolean {
  return calldata.slice(0, acrossSelector.length).toLowerCase() === acrossSelector
}

// The router deposits the gross amount in its caller's name, and then emits the payment event. So the deposit of a
// payment is the last deposit of a listed SpokePool between the previous payment and this payment.

/** {@link BridgeDeposit.bridge} of the Across bridge. */
export const acrossBridge = 'across'

export type DepositFacts = Omit<BridgeDeposit, 'payment'>

/**
 * Finds the deposit of each payment, with the same depositor, recipient, token and amount.
 * @param payments - All payments of the transaction, in log order.
 * @param positions - The positions of their logs in `logs`.
 * @param logs - All logs of the receipt, in order.
 */
export function findDeposits(
  payments: readonly DecodedPayment[],
  positions: readonly number[],
  logs: readonly ReceiptLog[],
  isPaymentLog: (log: ReceiptLog) => boolean,
  spokePools: ReadonlySet<string>,
): readonly (DepositFacts | null)[] {
  const isDepositLog = ({ address, topics: [topic = ''] }: ReceiptLog) =>
    spokePools.has(address) && depositTopics.has(topic)
  return payments.map((payment, index) => {
    const before = logs.slice(0, positions[index] ?? 0)
    const log = before.slice(before.findLastIndex(isPaymentLog) + 1).findLast(isDepositLog)
    const deposit = log === undefined ? null : decodeDeposit(log)
    if (deposit === null) return null
    const { depositId, destinationChainId, depositor, recipient, input, output } = deposit
    const isOfPayment =
      depositor === payment.sender &&
      recipient === payment.receiver &&
      input.token === payment.token &&
      input.amount === payment.gross
    return isOfPayment ? { bridge: acrossBridge, depositId, destinationChainId, receiver: recipient, output } : null
  })
}
