/**
 * Receipts as the bytes that the header commits to (`debug_getRawReceipts`): about half of what they take as JSON, and
 * nothing is encoded again to prove them. Each node is tried once. Source: docs/decisions/completeness.md.
 * @module
 */
import { isHex, quantity } from '../internal/hex.js'
import type { Rpc, RpcCall } from '../internal/json-rpc.js'
import { shortestItem } from '../proof/list-root.js'
import type { RangeReader } from '../range-reader.js'
import type { Header } from './headers.js'
import { isUnavailable } from './logs.js'

/** Whether a node that was tried has them. */
const nodes = new WeakMap<Rpc, boolean>()

/** The call for the raw receipts of a height. */
export function rawReceiptsCall(number: number): RpcCall {
  return { method: 'debug_getRawReceipts', params: [quantity(number)] }
}

/** Whether the node is asked for raw receipts. */
export function goesRaw(rpc: Rpc): boolean {
  return nodes.get(rpc) === true
}

/** The node is asked for them no more. */
export function stopRaw(rpc: Rpc): void {
  nodes.set(rpc, false)
}

/** Tries a node with the first of these blocks that has transactions, unless it was tried. */
export async function tryRaw(reader: RangeReader, headers: readonly Header[], signal?: AbortSignal): Promise<void> {
  const { rpc, rawReceipts } = reader
  if (!rawReceipts || nodes.has(rpc)) return
  const header = headers.find(({ transactions }) => transactions !== null && transactions.length > 0)
  if (header === undefined) return
  nodes.set(rpc, false)
  try {
    const [outcome] = await rpc.askAll([rawReceiptsCall(header.ref.number)], signal)
    nodes.set(rpc, outcome?.ok === true && provenRaw(reader, header, outcome.result) !== null)
  } catch (error) {
    if (!isUnavailable(error)) throw error
  }
}

/** The bytes of a block's receipts; null when they are not those that its header commits to. */
export function provenRaw(
  { prover }: RangeReader,
  { transactions, receiptsRoot }: Header,
  answer: unknown,
): readonly Buffer[] | null {
  if (!Array.isArray(answer) || answer.length !== transactions?.length) return null
  const raw: Buffer[] = []
  for (const text of answer) {
    if (!isHex(text)) return null
    const bytes = Buffer.from(text.slice(2), 'hex')
    if (bytes.length < shortestItem) return null
    raw.push(bytes)
  }
  return prover.listRoot(raw) === receiptsRoot ? raw : null
}
