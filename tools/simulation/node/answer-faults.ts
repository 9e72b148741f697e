/** Faults of single answers. Each changes an honest answer, if it applies to the answer's method. @module */
import type { Draws } from '../random.js'
import type { Call, Outcome } from './calls.js'
import type { itemFaults } from './fault-names.js'

interface Receipt {
  readonly logs: readonly { readonly data: string }[]
}

type Change = (result: unknown, call: Call, draws: Draws) => Outcome

/** Applies a fault to an honest answer. */
export function spoil(fault: (typeof itemFaults)[number], call: Call, outcome: Outcome, draws: Draws): Outcome {
  return 'result' in outcome ? changes[fault](outcome.result, call, draws) : outcome
}

/** Error messages of real nodes; -32005 has three meanings. */
const nodeErrors = [
  { code: -32000, message: 'header not found' },
  { code: -32005, message: 'limit exceeded' },
  { code: -32603, message: 'internal error' },
  { code: -32000, message: 'missing trie node' },
  { code: 19, message: 'Temporary internal error. Please retry' },
] as const

/**
 * Methods whose answer may be missing for a while: the node has not seen the block or transaction yet, or dropped it.
 */
const mayBeMissing = /^eth_get(Block|Transaction)/

const changes: Readonly<Record<(typeof itemFaults)[number], Change>> = {
  'null-answer': (result, { method }) => ({ result: mayBeMissing.test(method) ? null : result }),
  'item-error': (_result, _call, draws) => ({ error: draws.pick(nodeErrors) }),
  'logs-empty': (result, { method }) => ({ result: method === 'eth_getLogs' ? [] : result }),
  'logs-cut': (result, { method }, draws) => ({
    result: method === 'eth_getLogs' ? dropOne(result, draws) : result,
  }),
  'log-changed': (result, { method }, draws) => ({
    result: method === 'eth_getLogs' ? changeOne(result, draws, changeLog) : result,
  }),
  'receipt-log-missing': (result, { method }, draws) => ({
    result: isReceipts(method) ? editLogs(result, draws, (logs) => dropOne(logs, draws)) : result,
  }),
  'receipt-missing': (result, { method }, draws) => ({
    result: method === 'eth_getBlockReceipts' ? dropOne(result, draws) : result,
  }),
  'receipt-log-changed': (result, { method }, draws) => ({
    result: isReceipts(method) ? editLogs(result, draws, (logs) => changeOne(logs, draws, changeLog)) : result,
  }),
  'header-changed': (result, { method }, draws) => ({
    result: isHeader(method, result) ? { ...result, ...draws.pick(headerChanges)(result) } : result,
  }),
  // The node replaces the tag in the call instead.
  'finalized-back': (result) => ({ result }),
}

interface HeaderJson {
  readonly timestamp: string
  readonly transactions: readonly unknown[]
}

/** Changes of a header; each leaves the block's hash unchanged. */
const headerChanges: readonly ((header: HeaderJson) => Readonly<Record<string, unknown>>)[] = [
  () => ({ logsBloom: `0x${'00'.repeat(256)}` }),
  () => ({ receiptsRoot: `0x${'77'.repeat(32)}` }),
  ({ timestamp }) => ({ timestamp: `0x${(Number(timestamp) + 60).toString(16)}` }),
]

function isHeader(method: string, result: unknown): result is HeaderJson {
  return method.startsWith('eth_getBlockBy') && typeof result === 'object' && result !== null
}

function isReceipts(method: string): boolean {
  return method === 'eth_getBlockReceipts' || method === 'eth_getTransactionReceipt'
}

/** A list without one item, mostly the last one. */
function dropOne(list: unknown, draws: Draws): unknown {
  if (!Array.isArray(list) || list.length === 0) return list
  const at = draws.chance(0.6) ? list.length - 1 : draws.whole(0, list.length - 1)
  return list.filter((_, index) => index !== at)
}

function changeOne(list: unknown, draws: Draws, change: (item: never) => unknown): unknown {
  if (!Array.isArray(list) || list.length === 0) return list
  const at = draws.whole(0, list.length - 1)
  return list.map((item, index) => (index === at ? change(item as never) : item))
}

/** The same log with another amount. */
function changeLog(log: { readonly data: string }): unknown {
  const { data } = log
  if (data.length < 2 + 2 * 64) return { ...log, data: `${data}00` }
  const last = data[129] === '1' ? '2' : '1'
  return { ...log, data: `${data.slice(0, 129)}${last}${data.slice(130)}` }
}

function editLogs(result: unknown, draws: Draws, change: (logs: unknown) => unknown): unknown {
  const spoilOne = (receipt: Receipt) => ({ ...receipt, logs: change(receipt.logs) })
  if (!Array.isArray(result)) return result === null ? null : spoilOne(result as Receipt)
  const withLogs = result.flatMap((receipt: Receipt, index) => (receipt.logs.length > 0 ? [index] : []))
  if (withLogs.length === 0) return result
  const at = draws.pick(withLogs)
  return result.map((receipt: Receipt, index) => (index === at ? spoilOne(receipt) : receipt))
}
