/** The transactions behind payments: who called what. @module */
import type { TransactionLogs } from './group-logs.js'
import { blockTransactions, readTransaction, type TransactionFacts } from './internal/answers.js'
import { quantity } from './internal/hex.js'
import type { RpcCall } from './internal/json-rpc.js'
import type { RangeReader } from './range-reader.js'
import { assertSameBlock } from './read-receipts.js'

/** From so many payments on, a block is read whole when at least half of its transactions pay. */
const manyPayments = 3
/** A transaction among others that are not needed still costs its part of the answer. */
const mostPerPayment = 2
/** Calls are asked for in requests that fill about a megabyte. */
const transactionsPerRequest = 500

/**
 * Reads the transactions of payments, by hash: one by one, or with their block where most of it pays.
 * @param sizeOf - How many transactions a block holds, or null when that is not known.
 * @throws ChainError `ERR_CHAIN_RANGE_GONE` when a transaction is no longer in the block its logs came from;
 * `ERR_CHAIN_UNAVAILABLE`.
 */
export async function readCalls(
  reader: RangeReader,
  groups: readonly TransactionLogs[],
  sizeOf: (blockNumber: number) => number | null,
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
    const whole = sizeOf(height)
    const isWhole = whole !== null && same.length >= manyPayments && whole <= same.length * mostPerPayment
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

interface Asked {
  readonly call: RpcCall
  readonly groups: readonly TransactionLogs[]
}

/** The call for a block with its transactions. */
function blockCall(height: number): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [quantity(height), true] }
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
    for (const { txHash, payments } of groups) {
      const answer = isWhole ? (inBlock?.get(txHash) ?? null) : answered
      const transaction = readTransaction(answer, reader.fail)
      const blockHashes = payments.map(({ log }) => log.blockHash)
      assertSameBlock('transaction', txHash, blockHashes, transaction, reader)
      found.set(txHash, transaction)
    }
  }
}
