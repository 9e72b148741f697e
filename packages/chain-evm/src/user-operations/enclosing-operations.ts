/**
 * Assigns logs to the user operations of a bundle. Source: ERC-4337; EntryPoint 0.6 to 0.9.
 *
 * The EntryPoint validates all operations, emits `BeforeExecution`, and then executes them in the order of the
 * calldata. `UserOperationEvent` closes each, so the first one after a log identifies its operation, whatever sender
 * the log names. Logs of the validation, and logs after the last operation, belong to none.
 * @module
 */
import type { ReceiptLog } from '../internal/answers.js'
import { wordToAddress } from '../internal/hex.js'
import { knownEntryPoints } from './known-entry-points.js'
import type { UserOperation } from './read-bundle.js'

/** `UserOperationEvent(bytes32 indexed, address indexed sender, address indexed, uint256, bool, uint256, uint256)`. */
const operationTopic = '0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f'
/** `BeforeExecution()`. */
const executionTopic = '0xbb47ee3e183a558b1a2ff0874b079f3fc5478b7454eacf2bfc5af2ff5878f972'

/** How many operations an EntryPoint executed, by its logs. */
export function countOperations(logs: readonly ReceiptLog[], entryPoint: string): number {
  return logs.filter((log) => isOf(log, entryPoint, operationTopic)).length
}

/** Where a known EntryPoint closed its last user operation: a log before that may be of one. -1 when there is none. */
export function lastOperation(logs: readonly ReceiptLog[]): number {
  return logs.findLastIndex(({ address, topics }) => topics[0] === operationTopic && knownEntryPoints.has(address))
}

/**
 * The operations that logs belong to.
 * @param logs - All logs of the receipt, in order.
 * @param places - Positions in `logs` that are asked about, ascending.
 * @param entryPoint - The contract that was called with the bundle, lowercased.
 * @param operations - Those of the calldata, in order.
 * @returns One per place: the operation, or null when the place lies outside all of them. All are null when the logs
 * close other operations than those of the calldata.
 */
export function enclosingOperations(
  logs: readonly ReceiptLog[],
  places: readonly number[],
  entryPoint: string,
  operations: readonly UserOperation[],
): readonly (UserOperation | null)[] {
  const closings = [...logs.keys()].filter((index) => isOf(logs[index], entryPoint, operationTopic))
  const agree =
    closings.length === operations.length &&
    closings.every((index, order) => senderOf(logs[index]) === operations[order]?.sender)
  if (!agree) return places.map(() => null)
  const start = logs.findIndex((log) => isOf(log, entryPoint, executionTopic))
  let order = 0
  return places.map((place) => {
    if (place < start) return null
    while ((closings[order] ?? logs.length) <= place) order++
    return operations[order] ?? null
  })
}

function isOf(log: ReceiptLog | undefined, address: string, topic: string): boolean {
  return log?.address === address && log.topics[0] === topic
}

function senderOf(log: ReceiptLog | undefined): string | null {
  return wordToAddress(log?.topics[2]?.slice(2) ?? null)
}
