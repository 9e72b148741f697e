/** Encodes events of the Across SpokePool. @module */
import type { BridgeDeposit } from '@payment-integration/core/ports'
import { type Address, type Hex, pad, parseAbi } from 'viem'
import { type EmittedLog, encodeEvent } from './router-logs.js'

const deposits = parseAbi([
  'event FundsDeposited(bytes32 inputToken, bytes32 outputToken, uint256 inputAmount, uint256 outputAmount, uint256 indexed destinationChainId, uint256 indexed depositId, uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityDeadline, bytes32 indexed depositor, bytes32 recipient, bytes32 exclusiveRelayer, bytes message)',
  'event V3FundsDeposited(address inputToken, address outputToken, uint256 inputAmount, uint256 outputAmount, uint256 indexed destinationChainId, uint32 indexed depositId, uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityDeadline, address indexed depositor, address recipient, address exclusiveRelayer, bytes message)',
])
const fills = parseAbi([
  'struct Paid { bytes32 updatedRecipient; bytes32 updatedMessageHash; uint256 updatedOutputAmount; uint8 fillType; }',
  'event FilledRelay(bytes32 inputToken, bytes32 outputToken, uint256 inputAmount, uint256 outputAmount, uint256 repaymentChainId, uint256 indexed originChainId, uint256 indexed depositId, uint32 fillDeadline, uint32 exclusivityDeadline, bytes32 exclusiveRelayer, bytes32 indexed relayer, bytes32 depositor, bytes32 recipient, bytes32 messageHash, Paid relayExecutionInfo)',
])
const formerFills = parseAbi([
  'struct Paid { address updatedRecipient; bytes updatedMessage; uint256 updatedOutputAmount; uint8 fillType; }',
  'event FilledV3Relay(address inputToken, address outputToken, uint256 inputAmount, uint256 outputAmount, uint256 repaymentChainId, uint256 indexed originChainId, uint32 indexed depositId, uint32 fillDeadline, uint32 exclusivityDeadline, address exclusiveRelayer, address indexed relayer, address depositor, address recipient, bytes message, Paid relayExecutionInfo)',
])

/** Each event in its present and its former form. */
export const depositNames = ['FundsDeposited', 'V3FundsDeposited'] as const
export const fillNames = ['FilledRelay', 'FilledV3Relay'] as const

/** Options of a deposit and of its fill. */
export interface Bridged {
  readonly originChainId: bigint
  readonly destinationChainId: bigint
  readonly depositId: bigint
  readonly depositor: Address
  readonly recipient: Address
  readonly inputToken: Address
  readonly inputAmount: bigint
  readonly outputToken: Address
  readonly outputAmount: bigint
  readonly message: Hex
  /** The paid receiver and amount of a fill. @default as deposited */
  readonly updatedRecipient?: Address
  readonly updatedOutputAmount?: bigint
}

/** The options of a deposit that a chain returned. */
export function bridgedOf({ payment, output, ...deposit }: BridgeDeposit, changes: Partial<Bridged> = {}): Bridged {
  return {
    ...{ originChainId: BigInt(payment.chainId), destinationChainId: BigInt(deposit.destinationChainId) },
    ...{ depositId: BigInt(deposit.depositId), depositor: payment.sender as Address },
    ...{ recipient: deposit.receiver as Address, message: '0x' },
    ...{ inputToken: payment.tokenOut.address as Address, inputAmount: payment.tokenOut.gross },
    ...{ outputToken: output.token as Address, outputAmount: output.amount, ...changes },
  }
}

const word = (address: Address) => pad(address, { size: 32 })
const relayer: Address = '0x00000000000000000000000000000000000000e1'
const times = { quoteTimestamp: 1, fillDeadline: 2, exclusivityDeadline: 3 }

const addressNames = ['depositor', 'recipient', 'inputToken', 'outputToken', 'relayer', 'exclusiveRelayer']

/** Addresses as words, for events that have words. */
function toWords(name: string, args: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (name.includes('V3')) return args
  return Object.fromEntries(
    Object.entries(args).map(([key, value]) => [key, addressNames.includes(key) ? word(value as Address) : value]),
  )
}

export function depositLog(name: (typeof depositNames)[number], bridged: Bridged): EmittedLog {
  const event = deposits.find((each) => each.name === name)
  return encodeEvent(event, toWords(name, { ...bridged, ...times, exclusiveRelayer: relayer }))
}

export function fillLog(name: (typeof fillNames)[number], bridged: Bridged): EmittedLog {
  const { recipient, updatedRecipient = recipient, outputAmount, updatedOutputAmount = outputAmount } = bridged
  const rest = { ...bridged, ...times, relayer, exclusiveRelayer: relayer, repaymentChainId: 1n }
  if (name === 'FilledV3Relay') {
    const relayExecutionInfo = { updatedRecipient, updatedMessage: '0x', updatedOutputAmount, fillType: 0 }
    return encodeEvent(formerFills[0], { ...rest, relayExecutionInfo })
  }
  const noHash = pad('0x', { size: 32 })
  const changed = { updatedRecipient: word(updatedRecipient), updatedMessageHash: noHash }
  const relayExecutionInfo = { ...changed, updatedOutputAmount, fillType: 0 }
  return encodeEvent(fills[0], toWords(name, { ...rest, messageHash: noHash, relayExecutionInfo }))
}
