/** Reads the transactions and receipts of payments. @module */
import { groupBy } from '@payment-integration/core/internal'
import type { Emitted } from '../decode/pair-conversions.js'
import type { DecodedPayment, RouterLog } from '../decode/router-decoder.js'
import type { ReceiptFacts, TransactionFacts } from '../rpc/answers.js'
import { parseBlockTransactions, parseReceipt, parseTransaction } from '../rpc/answers.js'
import { buildBlockCall, buildReceiptCall } from '../rpc/json-rpc.js'
import type { BlockWithReceipts } from './block-receipts.js'
import type { RangeReader } from './range-reader.js'

interface EmittedPayment extends Emitted<DecodedPayment> {
  readonly log: RouterLog
}

/** The events of listed routers in one transaction, in log order. */
export interface TransactionLogs {
  readonly txHash: string
  readonly emitted: Emitted[]
  /** At least one. */
  readonly payments: EmittedPayment[]
}

/**
 * Decodes logs and groups them by transaction. Drops transactions without a payment of the requested routers. Keeps
 * every payment of the other transactions, because ordinals count over all routers.
 * @param logs - Logs of listed routers, in block, transaction and log order.
 */
export function groupLogs(reader: RangeReader, logs: readonly RouterLog[]): TransactionLogs[] {
  const groups = new Map<string, TransactionLogs>()
  for (const log of logs) {
    const version = reader.routers.get(log.address) ?? ''
    let group = groups.get(log.txHash)
    if (group === undefined) {
      group = { txHash: log.txHash, emitted: [], payments: [] }
      groups.set(log.txHash, group)
    }
    const event = reader.decoder.decode(log, version)
    if (event.kind === 'malformed') {
      reportQuarantined(reader, log, event.reason)
      if (reader.decoder.conversionTopics.includes(log.topics[0] ?? ''))
        group.emitted.push({ router: log.address, event: { kind: 'conversion', steps: [], isForgeable: true } })
      continue
    }
    group.emitted.push({ router: log.address, event })
    if (event.kind === 'payment') group.payments.push({ router: log.address, event, log })
  }
  const isRequested = ({ payments }: TransactionLogs) =>
    payments.some(({ router }) => reader.requestedRouters.has(router))
  return [...groups.values()].filter(isRequested)
}

/** Reports a quarantined log of a requested router. */
export function reportQuarantined(reader: RangeReader, log: RouterLog, reason: string): void {
  const { routers, requestedRouters, onQuarantine } = reader
  const { txHash, blockNumber, logIndex, address } = log
  if (!requestedRouters.has(address)) return
  const router = { address, version: routers.get(address) ?? '' }
  onQuarantine({ chainId: reader.fail.chainId, txHash, blockNumber, logIndex, router, reason })
}

/**
 * Reads the receipts of transactions that are not cached.
 * @returns All receipts, cached ones included, by transaction hash.
 * @throws ChainError `ERR_CHAIN_RANGE_GONE` when a receipt is no longer in its block.
 */
export async function readReceipts(
  reader: RangeReader,
  groups: readonly TransactionLogs[],
  cached: CachedFacts['receipts'],
): Promise<ReadonlyMap<string, ReceiptFacts>> {
  const missing = groups.filter(({ txHash }) => !cached.has(txHash))
  if (missing.length === 0) return cached
  const calls = missing.map(({ txHash }) => buildReceiptCall(txHash))
  const answers = await reader.node.rpc.callAll(calls, reader.signal)
  const all = new Map(cached)
  for (const [index, group] of missing.entries()) {
    const receipt = parseReceipt(answers[index], reader.fail)
    assertSameBlock('receipt', group, receipt, reader)
    all.set(group.txHash, receipt)
  }
  return all
}

/** Another hash means that the node mixed up the batch; another block means a reorg. */
function assertSameBlock<T extends { readonly hash: string; readonly blockHash: string }>(
  what: string,
  { txHash, payments }: TransactionLogs,
  answer: T | null,
  { fail }: RangeReader,
): asserts answer is T {
  if (answer === null) throw fail.noBlock(`the node no longer has ${what} ${txHash} in a block.`)
  if (answer.hash !== txHash) throw fail.unavailable(`${what} ${answer.hash} was answered instead of ${txHash}.`)
  if (payments.some(({ log }) => log.blockHash !== answer.blockHash))
    throw fail.noBlock(`${what} ${txHash} is not in the block its logs came from.`)
}

/** Minimum of paying transactions, and maximum of transactions for each, to read a block whole. */
const minPayingTransactions = 3
const maxTransactionsPerPayment = 2
/** About a megabyte. */
const transactionsPerRequest = 500

/** Whether it is cheaper to read the whole block than each paying transaction. */
export function shouldReadWhole(paying: number, transactions: number): boolean {
  return paying >= minPayingTransactions && transactions <= paying * maxTransactionsPerPayment
}

/**
 * Reads the transactions of payments that are not cached: one by one, or with their block.
 * @returns All transactions, cached ones included, by hash.
 * @throws ChainError `ERR_CHAIN_RANGE_GONE` when a transaction is no longer in the block its logs came from.
 */
export async function readPaymentTransactions(
  reader: RangeReader,
  groups: readonly TransactionLogs[],
  cached: CachedFacts['blocks'],
): Promise<ReadonlyMap<string, TransactionFacts>> {
  const byBlock = groupBy(groups, ({ payments }) => payments[0]?.log.blockHash ?? '')
  const transactions = new Map<string, TransactionFacts>()
  const add = (group: TransactionLogs, answer: unknown) => {
    const transaction = parseTransaction(answer, reader.fail)
    assertSameBlock('transaction', group, transaction, reader)
    transactions.set(group.txHash, transaction)
  }
  const addFromBlock = (blockGroups: readonly TransactionLogs[], inBlock: BlockWithReceipts['transactions']) => {
    for (const group of blockGroups) add(group, inBlock?.get(group.txHash) ?? null)
  }
  let wholeBlocks: (readonly [number, TransactionLogs[]])[] = []
  let single: TransactionLogs[] = []
  let size = 0
  /** Reads the pending blocks and transactions, and keeps only their facts. */
  async function flush(): Promise<void> {
    const calls = [
      ...wholeBlocks.map(([height]) => buildBlockCall(height)),
      ...single.map(({ txHash }) => ({ method: 'eth_getTransactionByHash', params: [txHash] })),
    ]
    const answers = await reader.node.rpc.callAll(calls, reader.signal)
    for (const [index, [, blockGroups]] of wholeBlocks.entries())
      addFromBlock(blockGroups, parseBlockTransactions(answers[index], reader.fail))
    for (const [index, group] of single.entries()) add(group, answers[wholeBlocks.length + index])
    wholeBlocks = []
    single = []
    size = 0
  }
  for (const blockGroups of byBlock.values()) {
    const height = blockGroups[0]?.payments[0]?.log.blockNumber ?? 0
    const block = cached.get(height)
    if (block?.transactions) {
      addFromBlock(blockGroups, block.transactions)
      continue
    }
    const blockSize = block?.header.transactions?.length
    const isWhole = blockSize !== undefined && shouldReadWhole(blockGroups.length, blockSize)
    const cost = isWhole ? blockSize : blockGroups.length
    if (size > 0 && size + cost > transactionsPerRequest) await flush()
    size += cost
    if (isWhole) wholeBlocks.push([height, blockGroups])
    else single.push(...blockGroups)
  }
  await flush()
  return transactions
}

/** Receipts by transaction hash, and blocks by height, that were read before. */
export interface CachedFacts {
  readonly receipts: ReadonlyMap<string, ReceiptFacts>
  readonly blocks: ReadonlyMap<number, BlockWithReceipts>
}
