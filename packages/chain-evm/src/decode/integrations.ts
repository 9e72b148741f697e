/**
 * Finds the integration of a payment in the suffix of its calldata or of its user operation.
 * Source: ERC-8021; ERC-4337; docs/decisions/integration-address-on-chain.md.
 * @module
 */
import type { ReceiptFacts, ReceiptLog, TransactionFacts } from '../rpc/answers.js'
import { bytesAt, parseAddress, wordAt, wordToAddress, wordToOffset } from '../rpc/hex.js'

// The calldata suffix of ERC-8021, schema 0: codes (ASCII, comma separated), their length (1 byte), the schema id
// (1 byte), and the marker (16 bytes).

const schema0Trailer = '0080218021802180218021802180218021'
/** The most suffixes to parse: wallets may append their own after the integration's. */
const maxSuffixes = 8

/**
 * Writes the suffix that names an integration, to be appended to calldata, for example as viem's `dataSuffix`.
 * @param address - The integration address, in any case; it is written lowercased.
 * @throws {TypeError} When the address is not 0x and 40 hex digits.
 * @example
 * import { encodeIntegrationSuffix, parseIntegrationSuffix } from '@payment-integration/chain-evm'
 * const dataSuffix = encodeIntegrationSuffix('0x00000000000000000000000000000000000000AA')
 * parseIntegrationSuffix(dataSuffix) // '0x00000000000000000000000000000000000000aa'
 */
export function encodeIntegrationSuffix(address: string): `0x${string}` {
  // Not with `Buffer`: payment pages call this function in browsers.
  let codes = ''
  for (const character of parseAddress('The integration address', address))
    codes += character.charCodeAt(0).toString(16).padStart(2, '0')
  return `0x${codes}${(codes.length / 2).toString(16).padStart(2, '0')}${schema0Trailer}`
}

/**
 * Parses the integration address in calldata: the first code that is 0x and 40 hex digits. A suffix without such a code
 * is skipped, because wallets add codes too. A malformed suffix, or one of another schema, names no integration.
 * @param calldata - 0x hex.
 * @returns The lowercased address, or null. Never throws.
 */
export function parseIntegrationSuffix(calldata: string): string | null {
  let end = calldata.length
  for (let suffix = 0; suffix < maxSuffixes; suffix++) {
    const lengthEnd = end - schema0Trailer.length
    if (lengthEnd < 4 || calldata.slice(lengthEnd, end).toLowerCase() !== schema0Trailer) return null
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

/** A cache of one: consecutive payments often have the same integration. */
let latestCodes: { readonly codes: string; readonly address?: string | null | undefined } = { codes: '' }

/** The first address among codes, lowercased; undefined if there is none, null if the codes are malformed. */
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

/** The EntryPoint contracts of ERC-4337, on every chain. Facts from `viem/account-abstraction` 2.57.1, MIT. */
export const knownEntryPoints: ReadonlySet<string> = new Set([
  // 0.6, 0.7, 0.8, 0.9
  '0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789',
  '0x0000000071727de22e5e9d8baf0edac6f37da032',
  '0x4337084d9e255ff0702461cf8895ce9e3b5ff108',
  '0x433709009b8330fda32311df1c2afa402ed8d009',
])

/** A call that a smart account makes through the EntryPoint. */
interface UserOperation {
  /** The account, lowercased. */
  readonly sender: string
  /** 0x hex. */
  readonly callData: string
}

/** `handleOps` of EntryPoint 0.6, and of 0.7 and above. */
const plainSelectors: ReadonlySet<string> = new Set(['0x1fad948c', '0x765e827f'])
/** `handleAggregatedOps` of EntryPoint 0.6, and of 0.7 and above. */
const aggregatedSelectors: ReadonlySet<string> = new Set(['0x4b1d7cf5', '0xdbed18e0'])

const wordBytes = 32
/** In every version, an operation begins with its sender, and `callData` is the fourth word. */
const callDataWord = 3

/** Whether calldata calls an EntryPoint with a bundle of user operations. */
export function isBundle(calldata: string): boolean {
  const selector = calldata.slice(0, 10).toLowerCase()
  return plainSelectors.has(selector) || aggregatedSelectors.has(selector)
}

/**
 * Parses the operations of a bundle, in the order of execution.
 * @param calldata - 0x hex.
 * @param maxOperations - The most operations to parse: a hostile bundle may repeat one operation without limit.
 * @returns Null when the calldata is no bundle or is malformed, or has more operations than `maxOperations`. Also null
 * when overlapping offsets make the calls of its operations together longer than the calldata. Never throws.
 */
export function parseBundle(calldata: string, maxOperations: number): UserOperation[] | null {
  if (!isBundle(calldata)) return null
  const hex = `0x${calldata.slice(10)}`
  const operations: UserOperation[] = []
  const listAt = parseOffset(hex, 0, 0)
  if (listAt === null) return null
  const parse = plainSelectors.has(calldata.slice(0, 10).toLowerCase()) ? parseOperations : parseAggregated
  if (!parse(hex, listAt, maxOperations, operations)) return null
  let length = 0
  for (const { callData } of operations) length += callData.length - 2
  return length <= hex.length ? operations : null
}

function parseAggregated(hex: string, listAt: number, maxOperations: number, into: UserOperation[]): boolean {
  return forEachItem(hex, listAt, maxOperations, (aggregateAt) => {
    const operationsAt = parseOffset(hex, aggregateAt, 0)
    return operationsAt !== null && parseOperations(hex, operationsAt, maxOperations - into.length, into)
  })
}

function parseOperations(hex: string, listAt: number, maxOperations: number, into: UserOperation[]): boolean {
  return forEachItem(hex, listAt, maxOperations, (operationAt) => {
    const sender = wordToAddress(wordAt(hex, operationAt))
    const callDataAt = parseOffset(hex, operationAt, callDataWord)
    const callData = callDataAt === null ? null : bytesAt(hex, callDataAt)
    if (sender === null || callData === null) return false
    into.push({ sender, callData: `0x${callData}` })
    return true
  })
}

/** Calls `parse` with the byte offset of each item of an ABI list. False if there are too many, or one is malformed. */
function forEachItem(hex: string, listAt: number, maxOperations: number, parse: (itemAt: number) => boolean): boolean {
  const count = wordToOffset(wordAt(hex, listAt))
  if (count === null || count > maxOperations) return false
  const itemsAt = listAt + wordBytes
  for (let index = 0; index < count; index++) {
    const itemAt = parseOffset(hex, itemsAt, index)
    if (itemAt === null || !parse(itemAt)) return false
  }
  return true
}

/** The position that the word at an index points to, relative to `base`; null if there is no such word or offset. */
function parseOffset(hex: string, base: number, index: number): number | null {
  const offset = wordToOffset(wordAt(hex, base + index * wordBytes))
  return offset === null ? null : base + offset
}

// The EntryPoint validates all operations, emits `BeforeExecution`, and executes the operations in the order of the
// calldata. Each ends with `UserOperationEvent`, so the first such log after a payment identifies its operation. Logs
// of the validation, and logs after the last operation, belong to no operation.

/** `UserOperationEvent(bytes32 indexed, address indexed sender, address indexed, uint256, bool, uint256, uint256)`. */
const operationTopic = '0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f'
/** `BeforeExecution()`. */
const executionTopic = '0xbb47ee3e183a558b1a2ff0874b079f3fc5478b7454eacf2bfc5af2ff5878f972'

/** The position of the last log with which a known EntryPoint ends an operation; -1 if there is none. */
export function findLastOperationEnd(logs: readonly ReceiptLog[]): number {
  return logs.findLastIndex(({ address, topics }) => topics[0] === operationTopic && knownEntryPoints.has(address))
}

/**
 * Finds the operations that contain logs.
 * @param logs - All logs of the receipt, in order.
 * @param positions - Ascending positions in `logs`.
 * @param entryPoint - The contract that was called with the bundle, lowercased.
 * @param operations - The operations in the calldata, in order.
 * @returns For each position its operation, or null when no operation contains it. All are null if the operations in
 * the logs are not those in the calldata.
 */
export function findEnclosingOperations(
  logs: readonly ReceiptLog[],
  positions: readonly number[],
  entryPoint: string,
  operations: readonly UserOperation[],
): readonly (UserOperation | null)[] {
  const operationEnds = [...logs.keys()].filter((index) => isLogOf(logs[index], entryPoint, operationTopic))
  const isSameBundle =
    operationEnds.length === operations.length &&
    operationEnds.every(
      (index, order) => wordToAddress(logs[index]?.topics[2]?.slice(2) ?? null) === operations[order]?.sender,
    )
  if (!isSameBundle) return positions.map(() => null)
  const start = logs.findIndex((log) => isLogOf(log, entryPoint, executionTopic))
  let order = 0
  return positions.map((position) => {
    if (position < start) return null
    while ((operationEnds[order] ?? logs.length) <= position) order++
    return operations[order] ?? null
  })
}

function isLogOf(log: ReceiptLog | undefined, address: string, topic: string): boolean {
  return log?.address === address && log.topics[0] === topic
}

// In a bundle, the integration is in the suffix of the paying operation's callData, because the bundler writes the
// transaction's calldata. A bundle that reaches the EntryPoint through another contract cannot be parsed, so its
// payments have no integration. In any other transaction the integration is in the suffix of the calldata.

type ParseSuffix = (calldata: string) => string | null

type Call = Pick<TransactionFacts, 'to' | 'input'>

/**
 * Whether finding the integrations needs the receipt. A bundle needs it. So does a call whose calldata names an
 * integration but whose target is no router, because that contract may execute user operations.
 */
export function needsReceiptForIntegrations({ to, input }: Call, isRouter: boolean, parseSuffix: ParseSuffix): boolean {
  return to !== null && !isRouter && (isBundle(input) || parseSuffix(input) !== null)
}

/**
 * Finds the integration of each payment.
 * @param positions - The positions of the payments in the receipt's logs.
 * @param receipt - Null for a call to a router. May be null unless {@link needsReceiptForIntegrations}.
 * @returns Lowercased addresses, or null.
 */
export function findIntegrations(
  { to, input }: Call,
  positions: readonly number[],
  receipt: Pick<ReceiptFacts, 'logs'> | null,
  parseSuffix: ParseSuffix,
): readonly (string | null)[] {
  if (receipt === null || to === null) return positions.map(() => parseSuffix(input))
  const { logs } = receipt
  if (isBundle(input)) {
    const executed = logs.filter((log) => isLogOf(log, to, operationTopic))
    const operations = parseBundle(input, executed.length)
    if (operations === null) return positions.map(() => null)
    const enclosing = findEnclosingOperations(logs, positions, to, operations)
    return enclosing.map((operation) => operation && parseSuffix(operation.callData))
  }
  const integration = parseSuffix(input)
  const lastOperationEnd = findLastOperationEnd(logs)
  return positions.map((position) => (position < lastOperationEnd ? null : integration))
}
