/**
 * Raw receipts: the bytes that a header commits to. They take half of what JSON takes. Each node is tried once.
 * Source: docs/decisions/completeness.md.
 * @module
 */
import { isRateLimit } from '../internal/failures.js'
import { isHex, quantity } from '../internal/hex.js'
import type { Rpc, RpcCall } from '../internal/json-rpc.js'
import { leastItemBytes } from '../proof/list-root.js'
import { type RawReceipt, readRawReceipt } from '../proof/raw-receipt.js'
import { MalformedRlpError } from '../proof/rlp-reader.js'
import type { RangeReader } from '../range-reader.js'
import type { Header } from './headers.js'
import { isUnavailable } from './logs.js'

/** Nodes that were tried, and whether they have raw receipts. */
const nodes = new WeakMap<Rpc, boolean>()

/** The call for the raw receipts of a height. */
export function rawReceiptsCall(number: number): RpcCall {
  return { method: 'debug_getRawReceipts', params: [quantity(number)] }
}

/** Whether the node is asked for raw receipts. */
export function asksRaw(rpc: Rpc): boolean {
  return nodes.get(rpc) === true
}

/** Asks the node for JSON from now on. */
export function stopRaw(rpc: Rpc): void {
  nodes.set(rpc, false)
}

/** Tries a node with the first of these blocks that has transactions, unless the node was tried. */
export async function tryRaw(reader: RangeReader, headers: readonly Header[], signal?: AbortSignal): Promise<void> {
  const { rpc, rawReceipts } = reader
  if (!rawReceipts || nodes.has(rpc)) return
  const header = headers.find(({ transactions }) => transactions !== null && transactions.length > 0)
  if (header === undefined) return
  // Ranges that are read beside this one do not try the node as well.
  nodes.set(rpc, false)
  try {
    const [outcome] = await rpc.askAll([rawReceiptsCall(header.ref.number)], signal)
    nodes.set(rpc, outcome?.ok === true && provenRaw(reader, header, outcome.result) !== null)
  } catch (error) {
    // Nothing was learnt of a node that was busy, or was not asked.
    if (isRateLimit(error) || signal?.aborted) nodes.delete(rpc)
    if (!isUnavailable(error)) throw error
  }
}

/** The raw receipts of a block; null when they are not those that its header commits to. */
export function provenRaw(
  { prover }: RangeReader,
  { transactions, receiptsRoot }: Header,
  answer: unknown,
): readonly RawReceipt[] | null {
  if (!Array.isArray(answer) || answer.length !== transactions?.length) return null
  const all: Buffer[] = []
  for (const text of answer) {
    if (!isHex(text)) return null
    const bytes = Buffer.from(text.slice(2), 'hex')
    if (bytes.length < leastItemBytes) return null
    all.push(bytes)
  }
  if (prover.listRoot(all) !== receiptsRoot) return null
  try {
    return all.map(readRawReceipt)
  } catch (error) {
    if (error instanceof MalformedRlpError) return null
    throw error
  }
}
