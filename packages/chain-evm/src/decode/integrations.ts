/**
 * Finds the integration of a payment: in the calldata's suffix, or in a user operation.
 * Source: ERC-8021; ERC-4337; docs/decisions/integration-address-on-chain.md.
 * @module
 */
import type { ReceiptFacts, ReceiptLog, TransactionFacts } from '../rpc/answers.js'
import { wordAt, wordToAddress, wordToOffset } from '../rpc/hex.js'

// The calldata suffix of ERC-8021. Read from the end, the suffix is 16 bytes of
// repeated `8021` and 1 byte schema id. Schema 0 has 1 byte length and that many bytes of ASCII codes, comma separated.

const marker = '80218021802180218021802180218021'
const markerAndSchema0 = `00${marker}`
/** A suffix that a wallet adds behind ours is looked through, up to this many. */
const maxSuffixes = 8

/**
 * Writes the suffix that names an integration, to be appended to calldata, for example as viem's `dataSuffix`.
 * @param address - The integration address, in any case; it is written lowercased.
 * @throws {TypeError} When the address is not 0x and 40 hex digits.
 * @example encodeIntegrationSuffix('0x00000000000000000000000000000000000000aa')
 */
export function encodeIntegrationSuffix(address: string): `0x${string}` {
  if (!/^0x[0-9a-fA-F]{40}$/.test(address))
    throw new TypeError(`The integration address is ${JSON.stringify(address)}; pass 0x and 40 hex digits.`)
  let codes = ''
  for (const character of address.toLowerCase()) codes += character.charCodeAt(0).toString(16).padStart(2, '0')
  return `0x${codes}${(codes.length / 2).toString(16).padStart(2, '0')}${markerAndSchema0}`
}

/**
 * Reads the integration address in calldata: the first code that is 0x and 40 hex digits, lowercased.
 * A suffix of schema 0 without such a code is removed and the rest is read the same way, because wallets add codes too.
 * A malformed suffix or another schema has no integration.
 * @param calldata - 0x hex.
 * @returns The address, lowercased, or null. It never throws.
 */
export function parseIntegrationSuffix(calldata: string): string | null {
  let end = calldata.length
  for (let suffix = 0; suffix < maxSuffixes; suffix++) {
    const lengthEnd = end - markerAndSchema0.length
    if (lengthEnd < 4 || !endsWithMarker(calldata, end)) return null
    const length = Number.parseInt(calldata.slice(lengthEnd - 2, lengthEnd), 16)
    const codesEnd = lengthEnd - 2
    const codesStart = codesEnd - length * 2
    if (Number.isNaN(length) || codesStart < 2) return null
    const codes = calldata.slice(codesStart, codesEnd)
    if (codes !== latestCodes.codes) latestCodes = { codes, address: findAddressCode(codes) }
    const { address } = latestCodes
    if (address !== undefined) return address
    end = codesStart
  }
  return null
}

/** The codes that were read last: payments of one integration follow each other. */
let latestCodes: { readonly codes: string; readonly address: string | null | undefined } = {
  codes: '',
  address: undefined,
}

function endsWithMarker(calldata: string, end: number): boolean {
  if (calldata.endsWith(markerAndSchema0, end)) return true
  return calldata.slice(end - markerAndSchema0.length, end).toLowerCase() === markerAndSchema0
}

/** The first address among codes, lowercased; undefined when there is none, null when they are malformed. */
function findAddressCode(hex: string): string | null | undefined {
  const codes = parseAscii(hex)
  if (codes === null) return null
  return codes
    .split(',')
    .find((code) => /^0x[0-9a-fA-F]{40}$/.test(code))
    ?.toLowerCase()
}

function parseAscii(hex: string): string | null {
  let text = ''
  for (let index = 0; index < hex.length; index += 2) {
    const byte = Number.parseInt(hex.slice(index, index + 2), 16)
    if (!(byte < 0x80)) return null
    text += String.fromCharCode(byte)
  }
  return text
}

/**
 * The EntryPoint contracts of ERC-4337, at the same address on every chain, lowercased.
 * Facts from `viem/account-abstraction` 2.57.1, MIT.
 */
export const knownEntryPoints: ReadonlySet<string> = new Set([
  // 0.6, 0.7, 0.8, 0.9
  '0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789',
  '0x0000000071727de22e5e9d8baf0edac6f37da032',
  '0x4337084d9e255ff0702461cf8895ce9e3b5ff108',
  '0x433709009b8330fda32311df1c2afa402ed8d009',
])

/** A call of an account: sender and callData are the first and the fourth word of an operation in every version. */
interface UserOperation {
  /** The account, lowercased. */
  readonly sender: string
  /** 0x hex: what the account was called with. */
  readonly callData: string
}

/** `handleOps` of EntryPoint 0.6, and of 0.7 and above, whose operations are packed. */
const plainSelectors: ReadonlySet<string> = new Set(['0x1fad948c', '0x765e827f'])
/** `handleAggregatedOps` of the same. */
const aggregatedSelectors: ReadonlySet<string> = new Set(['0x4b1d7cf5', '0xdbed18e0'])

const wordBytes = 32
/** Place of `callData` in an operation, in words. */
const callDataWord = 3

/** Whether calldata begins like a bundle. */
export function isBundle(calldata: string): boolean {
  const selector = calldata.slice(0, 10).toLowerCase()
  return plainSelectors.has(selector) || aggregatedSelectors.has(selector)
}

/**
 * Reads the operations of a bundle, in the order of their execution.
 * @param calldata - 0x hex.
 * @param maxOperations - Limit of operations. Calldata may repeat one of them without end, so reading stops there.
 * @returns Null when the calldata is no bundle, is malformed, or has more operations. Also when operations share bytes
 * and so are longer than the calldata. It never throws.
 */
export function parseBundle(calldata: string, maxOperations: number): UserOperation[] | null {
  if (!isBundle(calldata)) return null
  const hex = `0x${calldata.slice(10)}`
  const operations: UserOperation[] = []
  const list = parseOffset(hex, 0, 0)
  if (list === null) return null
  const read = plainSelectors.has(calldata.slice(0, 10).toLowerCase()) ? parseOperations : parseAggregated
  if (!read(hex, list, maxOperations, operations)) return null
  let length = 0
  for (const { callData } of operations) length += callData.length - 2
  return length <= hex.length ? operations : null
}

function parseAggregated(hex: string, list: number, maxOperations: number, into: UserOperation[]): boolean {
  return forEachItem(hex, list, maxOperations, (aggregate) => {
    const operations = parseOffset(hex, aggregate, 0)
    return operations !== null && parseOperations(hex, operations, maxOperations - into.length, into)
  })
}

function parseOperations(hex: string, list: number, maxOperations: number, into: UserOperation[]): boolean {
  return forEachItem(hex, list, maxOperations, (operation) => {
    const sender = wordToAddress(wordAt(hex, operation))
    const callData = parseBytes(hex, parseOffset(hex, operation, callDataWord))
    if (sender === null || callData === null) return false
    into.push({ sender, callData })
    return true
  })
}

/** Calls `read` with each item of a list of dynamic items. False when there are too many, or one is malformed. */
function forEachItem(hex: string, list: number, maxOperations: number, read: (item: number) => boolean): boolean {
  const count = wordToOffset(wordAt(hex, list))
  if (count === null || count > maxOperations) return false
  const items = list + wordBytes
  for (let index = 0; index < count; index++) {
    const item = parseOffset(hex, items, index)
    if (item === null || !read(item)) return false
  }
  return true
}

/** The place that the word at an index points to, counted from `base`; null when it is not there or points nowhere. */
function parseOffset(hex: string, base: number, index: number): number | null {
  const offset = wordToOffset(wordAt(hex, base + index * wordBytes))
  return offset === null ? null : base + offset
}

function parseBytes(hex: string, place: number | null): string | null {
  if (place === null) return null
  const length = wordToOffset(wordAt(hex, place))
  if (length === null) return null
  const start = 2 + (place + wordBytes) * 2
  const end = start + length * 2
  return end > hex.length ? null : `0x${hex.slice(start, end)}`
}

// The EntryPoint validates all operations, emits `BeforeExecution`, and then executes them in the order of the
// calldata. `UserOperationEvent` closes each, so the first one after a log identifies its operation, whatever sender
// the log names. Logs of the validation, and logs after the last operation, belong to none.

/** `UserOperationEvent(bytes32 indexed, address indexed sender, address indexed, uint256, bool, uint256, uint256)`. */
const operationTopic = '0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f'
/** `BeforeExecution()`. */
const executionTopic = '0xbb47ee3e183a558b1a2ff0874b079f3fc5478b7454eacf2bfc5af2ff5878f972'

/** How many operations an EntryPoint executed, by its logs. */
function countOperations(logs: readonly ReceiptLog[], entryPoint: string): number {
  return logs.filter((log) => isLogOf(log, entryPoint, operationTopic)).length
}

/** Where a known EntryPoint closed its last user operation: a log before that may be of one. -1 when there is none. */
export function findLastOperation(logs: readonly ReceiptLog[]): number {
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
export function findEnclosingOperations(
  logs: readonly ReceiptLog[],
  places: readonly number[],
  entryPoint: string,
  operations: readonly UserOperation[],
): readonly (UserOperation | null)[] {
  const closings = [...logs.keys()].filter((index) => isLogOf(logs[index], entryPoint, operationTopic))
  const agree =
    closings.length === operations.length &&
    closings.every((index, order) => parseSender(logs[index]) === operations[order]?.sender)
  if (!agree) return places.map(() => null)
  const start = logs.findIndex((log) => isLogOf(log, entryPoint, executionTopic))
  let order = 0
  return places.map((place) => {
    if (place < start) return null
    while ((closings[order] ?? logs.length) <= place) order++
    return operations[order] ?? null
  })
}

function isLogOf(log: ReceiptLog | undefined, address: string, topic: string): boolean {
  return log?.address === address && log.topics[0] === topic
}

function parseSender(log: ReceiptLog | undefined): string | null {
  return wordToAddress(log?.topics[2]?.slice(2) ?? null)
}

// In a bundle of user operations it is the suffix of the paying operation's callData, because the transaction's own
// calldata is the bundler's. A bundle that reaches the EntryPoint through another contract cannot be read, so its
// payments have no integration. In any other transaction it is the suffix of the calldata.

/** Reads the integration address that calldata names, or null. */
type ReadSuffix = (calldata: string) => string | null

type Call = Pick<TransactionFacts, 'to' | 'input'>

/**
 * Whether the receipt decides about the integrations of a transaction. It does for a bundle, and for a call of another
 * contract than a router whose calldata has an integration.
 */
export function needsReceiptForIntegrations({ to, input }: Call, isRouter: boolean, readSuffix: ReadSuffix): boolean {
  return to !== null && !isRouter && (isBundle(input) || readSuffix(input) !== null)
}

/**
 * The integrations, one per payment.
 * @param places - Where the payments are in the receipt's logs; see `placePayments`.
 * @param receipt - Given where {@link needsReceiptForIntegrations} says that it decides, else null.
 * @returns Addresses, lowercased, or null.
 */
export function nameIntegrations(
  { to, input }: Call,
  places: readonly number[],
  receipt: Pick<ReceiptFacts, 'logs'> | null,
  readSuffix: ReadSuffix,
): readonly (string | null)[] {
  if (receipt === null || to === null) return places.map(() => readSuffix(input))
  const { logs } = receipt
  if (isBundle(input)) return nameBundleIntegrations({ to, input }, places, logs, readSuffix)
  const named = readSuffix(input)
  const last = findLastOperation(logs)
  return places.map((place) => (place < last ? null : named))
}

function nameBundleIntegrations(
  { to, input }: { readonly to: string; readonly input: string },
  places: readonly number[],
  logs: readonly ReceiptLog[],
  readSuffix: ReadSuffix,
): readonly (string | null)[] {
  const operations = parseBundle(input, countOperations(logs, to))
  if (operations === null) return places.map(() => null)
  return findEnclosingOperations(logs, places, to, operations).map(
    (operation) => operation && readSuffix(operation.callData),
  )
}
