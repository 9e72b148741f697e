/** The transactions behind payments: who called what. @module */
import type { TransactionLogs } from './group-logs.js'
import { blockTransactions, readTransaction, type TransactionFacts } from './internal/answers.js'
import type { RpcCall } from './internal/json-rpc.js'
import type { RangeReader } from './range-reader.js'
import { assertSameBlock } from './read-receipts.js'
import { blockCall } from './reading/headers.js'

/** From so many payments on, a block is read whole when at least half of its transactions pay. */
const manyPayments = 3
/** A transaction among others that are not needed still costs its part of the answer. */
const mostPerPayment = 2
/** Calls are asked for in requests that fill about a megabyte. */
const transactionsPerRequest = 500

/** Whether so many payments make it cheaper to read their block whole than each transaction alone. */
export function isReadWhole(payments: number, transactions: number): boolean {
  return payments >= manyPayments && transactions <= payments * mostPerPayment
}

/**
 * Reads the transactions of payments, by hash: one by one, or with their block where most of it pays.
 * @param held - Transactions in hand, as the node answered them with their blocks; they are not asked for.
 * @throws ChainError `ERR_CHAIN_RANGE_GONE` when a transaction is no longer in the block its logs came from;
 * `ERR_CHAIN_UNAVAILABLE`.
 */
export async function readCalls(
  reader: RangeReader,
  groups: readonly TransactionLogs[],
  held: HeldTransactions,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, TransactionFacts>> {
  const byBlock = new Map<number, TransactionLogs[]>()
  for (const group of groups) {
    const height = heightOf(group)
    const same = byBlock.get(height)
    if (same === undefined) byBlock.set(height, [group])
    else same.push(group)
  }
  const found = new Map<string, TransactionFacts>()
  let asked: Asked[] = []
  let size = 0
  for (const [height, same] of byBlock) {
    const inHand = held.transactionsOf(height)
    if (inHand !== null) {
      for (const group of same) take(reader, group, inHand.get(group.txHash) ?? null, found)
      continue
    }
    const whole = held.sizeOf(height)
    const isWhole = whole !== null && isReadWhole(same.length, whole)
    const next: Asked[] = isWhole
      ? [{ call: blockCall(height), groups: same }]
      : same.map((group) => ({ call: { method: 'eth_getTransactionByHash', params: [group.txHash] }, groups: [group] }))
    const cost = isWhole ? whole : same.length
    if (size > 0 && size + cost > transactionsPerRequest) {
      await ask(reader, asked, found, signal)
      asked = []
      size = 0
    }
    asked.push(...next)
    size += cost
  }
  await ask(reader, asked, found, signal)
  return found
}

/** What is known of blocks before their transactions are read. */
export interface HeldTransactions {
  /** How many transactions a block holds, or null when that is not known. */
  sizeOf(blockNumber: number): number | null
  /** The transactions of a block by hash, as the node answered them, or null when it was not read whole. */
  transactionsOf(blockNumber: number): ReadonlyMap<string, unknown> | null
}

interface Asked {
  readonly call: RpcCall
  readonly groups: readonly TransactionLogs[]
}

function heightOf({ payments }: TransactionLogs): number {
  return payments[0]?.log.blockNumber ?? 0
}

async function ask(
  reader: RangeReader,
  asked: readonly Asked[],
  found: Map<string, TransactionFacts>,
  signal?: AbortSignal,
): Promise<void> {
  if (asked.length === 0) return
  const answers = await reader.rpc.all(
    asked.map(({ call }) => call),
    signal,
  )
  for (const [index, { call, groups }] of asked.entries()) {
    const answered = answers[index]
    const isWhole = call.method === 'eth_getBlockByNumber'
    const inBlock = isWhole ? blockTransactions(answered, reader.fail) : null
    for (const group of groups) take(reader, group, isWhole ? (inBlock?.get(group.txHash) ?? null) : answered, found)
  }
}

function take(
  reader: RangeReader,
  { txHash, payments }: TransactionLogs,
  answer: unknown,
  found: Map<string, TransactionFacts>,
): void {
  const transaction = readTransaction(answer, reader.fail)
  const blockHashes = payments.map(({ log }) => log.blockHash)
  assertSameBlock('transaction', txHash, blockHashes, transaction, reader)
  found.set(txHash, transaction)
}
