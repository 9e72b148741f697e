/**
 * The SpokePools of the Across bridge: addresses, events, and the deposit of each payment.
 * Source: across-protocol/contracts, `V3SpokePoolInterface.sol`; docs/decisions/cross-chain.md.
 * @module
 */
import type { BridgeDeposit } from '@payment-integration/core/ports'
import type { DecodedPayment } from '../decode/router-decoder.js'
import type { ReceiptLog } from '../rpc/answers.js'
import { toAddress, uintAt, wordAt, wordToAddress, wordToOffset } from '../rpc/hex.js'

/** First topics of deposit events, lowercase. */
const depositTopics: ReadonlySet<string> = new Set([
  // FundsDeposited
  '0x32ed1a409ef04c7b0227189c3a103dc5ac10e775a15b785dcc510201f7c25ad3',
  // V3FundsDeposited
  '0xa123dc29aebf7d0c3322c8eeb5b999e859f39937950ed31056532713d0de396f',
])

/** A deposit, as in its event. Addresses are lowercase, amounts in base units. */
interface Deposit {
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
function decodeDeposit({ topics, data }: ReceiptLog): Deposit | null {
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

const byChain: Readonly<Record<number, readonly string[]>> = {
  1: ['0x5c7bcd6e7de5423a257d81b442095a1a6ced35c5'],
  10: ['0x6f26bf09b1c792e3228e5467807a900a503c0281'],
  56: ['0x4e8e101924ede233c13e2d8622dc8aed2872d505'],
  137: ['0x9295ee1d8c5b022be115a2ad3c30c72e34e7f096'],
  8453: ['0x09aea4b2242abc8bb4bb78d537a67a245a7bec64'],
  42161: ['0xe35e9842fceaca96570b734083f4a58e8f7c5f2a'],
}

/** The SpokePools of a chain; none on a chain that is not known. */
export function knownSpokePools(chainId: number): readonly string[] {
  return byChain[chainId] ?? []
}

/** @throws {TypeError} When an entry is no address. */
export function checkSpokePools(spokePools: readonly string[]): ReadonlySet<string> {
  return new Set(
    spokePools.map((given) => {
      const address = toAddress(given)
      if (address !== null) return address
      throw new TypeError(`A SpokePool's address is ${JSON.stringify(given)}; pass 0x and 40 hex digits.`)
    }),
  )
}

/** `yodlWithAcross` of versions 0.8 and 0.9. */
const selector = '0xde537614'

/** Whether calldata of a router deposits into a bridge. */
export function isBridgeCall(calldata: string): boolean {
  return calldata.slice(0, selector.length).toLowerCase() === selector
}

// The router deposits the gross amount in the name of its own caller, and then emits the payment event. So the
// payment's deposit is the last one of a listed SpokePool before it, and after any other payment. Depositor, recipient,
// token and amount must be the payment's. Deposits of other contracts do not count, and no deposit belongs to two
// payments.

/** Name of the bridge in {@link BridgeDeposit}. */
export const acrossBridge = 'across'

/** The facts of a deposit beside its payment. */
export type DepositFacts = Omit<BridgeDeposit, 'payment'>

/**
 * The deposit of each payment.
 * @param payments - All of the transaction, by log index.
 * @param places - Where their logs are in `logs`.
 * @param logs - All logs of the receipt, in order.
 * @param isPaymentLog - Whether a log has the topic of a payment and comes from a listed router.
 * @param spokePools - Listed bridge contracts, lowercased.
 * @returns One per payment; null where there is none.
 */
export function findDeposits(
  payments: readonly DecodedPayment[],
  places: readonly number[],
  logs: readonly ReceiptLog[],
  isPaymentLog: (log: ReceiptLog) => boolean,
  spokePools: ReadonlySet<string>,
): readonly (DepositFacts | null)[] {
  return payments.map((payment, index) => {
    const log = findLastDepositLog(logs, places[index] ?? 0, isPaymentLog, spokePools)
    const deposit = log === null ? null : decodeDeposit(log)
    return deposit !== null && matchesPayment(payment, deposit) ? toDepositFacts(deposit) : null
  })
}

function findLastDepositLog(
  logs: readonly ReceiptLog[],
  before: number,
  isPaymentLog: (log: ReceiptLog) => boolean,
  spokePools: ReadonlySet<string>,
): ReceiptLog | null {
  for (let place = before - 1; place >= 0; place--) {
    const log = logs[place]
    if (log === undefined || isPaymentLog(log)) return null
    if (spokePools.has(log.address) && depositTopics.has(log.topics[0] ?? '')) return log
  }
  return null
}

function matchesPayment(
  { sender, receiver, token, gross }: DecodedPayment,
  { depositor, recipient, input }: Deposit,
): boolean {
  return depositor === sender && recipient === receiver && input.token === token && input.amount === gross
}

function toDepositFacts({ depositId, destinationChainId, recipient, output }: Deposit): DepositFacts {
  return { bridge: acrossBridge, depositId, destinationChainId, receiver: recipient, output }
}
