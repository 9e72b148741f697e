/** Proves receipts against headers, and reads the payments. Source: docs/decisions/completeness.md. @module */
import type { BlockRange, BlockRef, BridgeDeposit, PaymentFacts, TokenFacts } from '@payment-integration/core/ports'
import type { RouterLog } from '../decode/router-decoder.js'
import { computeReceiptsRoot } from '../proof/prover.js'
import type { RawReceipt } from '../proof/receipts.js'
import { type Fields, isFields, parseReceipt, type ReceiptFacts, type ReceiptLog } from '../rpc/answers.js'
import { isUnproven } from '../rpc/failures.js'
import { lowercaseHash, zeroAddress } from '../rpc/hex.js'
import type { BlockReceipts, BlockWithReceipts } from './block-receipts.js'
import { readByTransaction, readReceiptsInOneCall } from './block-receipts.js'
import { type DerivedPayment, readDerivedPayments } from './derive-payments.js'
import { shouldReadWhole } from './payment-transactions.js'
import { countTransactions, type Header, isRelevantLog, type RangeReader } from './range-reader.js'

/** Collects relevant logs, and the receipts that contain them, counting log indexes from the first receipt. */
function createLogCollector(reader: RangeReader, ref: BlockRef) {
  const logs: RouterLog[] = []
  const receipts: ReceiptFacts[] = []
  let logIndex = 0
  return {
    logs,
    receipts,
    /** Adds the next receipt of the block. @param facts - Null if none of its logs is of a listed router. */
    add(logCount: number, facts: ReceiptFacts | null): void {
      const before = logs.length
      for (const [index, log] of facts?.logs.entries() ?? [])
        if (facts !== null && isRelevantLog(reader, log)) logs.push(toRouterLog(ref, facts.hash, logIndex + index, log))
      if (facts !== null && logs.length > before) receipts.push(facts)
      logIndex += logCount
    },
  }
}

function toRouterLog(
  { number: blockNumber, hash: blockHash, timestamp: blockTimestamp }: BlockRef,
  txHash: string,
  logIndex: number,
  { address, topics, data }: ReceiptLog,
): RouterLog {
  return { address, topics, data, blockNumber, blockHash, txHash, txIndex: null, logIndex, blockTimestamp }
}

/**
 * Proves the receipts of a block, but raw ones, which are proven already. Collects the relevant logs.
 * @throws ChainError `ERR_CHAIN_PROOF_FAILED` when their root is not the header's; `ERR_CHAIN_RANGE_GONE` when they
 * are of another block; `ERR_CHAIN_UNAVAILABLE` when they are malformed.
 */
function proveBlock(reader: RangeReader, header: Header, answered: BlockReceipts) {
  if ('raw' in answered) return collectRawLogs(reader, header, answered.raw)
  const { fail } = reader
  const { ref } = header
  const all: Fields[] = []
  for (const receipt of answered) {
    if (!isFields(receipt)) throw fail.unavailable('the answered receipt is not an object.')
    if (receipt['blockHash'] !== ref.hash && lowercaseHash(receipt['blockHash']) !== ref.hash)
      throw fail.noBlock(`the receipts of block ${ref.number} are of another block.`)
    all.push(receipt)
  }
  const proven = selectProvenReceipts(reader, header, all)
  assertTransactionOrder(reader, header, proven)
  return collectLogs(reader, header, proven)
}

function selectProvenReceipts(reader: RangeReader, header: Header, all: readonly Fields[]): readonly Fields[] {
  const { receiptsRoot, ref } = header
  const wholeRoot = computeReceiptsRoot(all)
  if ('root' in wholeRoot && wholeRoot.root === receiptsRoot) return all
  const last = all.at(-1)
  if (last !== undefined && isStateSync(last)) {
    const withoutLast = all.slice(0, -1)
    const shorterRoot = computeReceiptsRoot(withoutLast)
    if ('root' in shorterRoot && shorterRoot.root === receiptsRoot) return withoutLast
  }
  const what =
    receiptsRoot === null
      ? `the header of block ${ref.number} has no receipts root`
      : 'flaw' in wholeRoot
        ? `${wholeRoot.flaw} in a receipt of block ${ref.number}`
        : `the receipts of block ${ref.number} have another root than its header`
  reader.node.note({ kind: 'proof-failed', what })
  throw reader.fail.unproven(`${what}. Use another node; on a chain with non-standard receipts, set its proof to none.`)
}

/** Polygon appends the receipt of a state sync, from and to the zero address, which the root does not cover. */
function isStateSync(receipt: Fields): boolean {
  return receipt['from'] === zeroAddress && receipt['to'] === zeroAddress
}

/** Compares the receipts' transaction hashes with the header's list, because the receipts root does not cover them. */
function assertTransactionOrder(
  { fail, node }: RangeReader,
  { ref, transactions }: Header,
  receipts: readonly Fields[],
): void {
  if (transactions === null) return
  for (const [index, receipt] of receipts.entries()) {
    const hash = receipt['transactionHash']
    if (hash === transactions[index] || lowercaseHash(hash) === transactions[index]) continue
    const what = `receipt ${index} of block ${ref.number} is not of the transaction at that position`
    node.note({ kind: 'contradiction', what })
    throw fail.unavailable(`${what}.`)
  }
}

function collectLogs(reader: RangeReader, { ref }: Header, proven: readonly Fields[]) {
  const collector = createLogCollector(reader, ref)
  for (const receipt of proven) {
    const logs = receipt['logs'] as readonly Fields[]
    const isRelevant = logs.some((log) => isListed(reader.routers, log))
    collector.add(logs.length, isRelevant ? parseReceipt(receipt, reader.fail) : null)
  }
  return collector
}

/** Raw receipts have no transaction hashes: the header's list gives them in order. */
function collectRawLogs(reader: RangeReader, { ref, transactions }: Header, raw: readonly RawReceipt[]) {
  const { routers, fail } = reader
  const collector = createLogCollector(reader, ref)
  for (const [index, { addresses, succeeded, logs }] of raw.entries()) {
    const hash = transactions?.[index]
    if (hash === undefined || !addresses.some((address) => routers.has(address))) {
      collector.add(addresses.length, null)
      continue
    }
    if (succeeded === null) throw fail.unavailable('a receipt was answered without a status of 0x0 or 0x1.')
    collector.add(addresses.length, { hash, blockHash: ref.hash, blockNumber: ref.number, succeeded, logs: logs() })
  }
  return collector
}

function isListed(routers: RangeReader['routers'], log: Fields): boolean {
  const address = log['address']
  return typeof address === 'string' && (routers.has(address) || routers.has(address.toLowerCase()))
}

/** Payments, and deposits into bridges, in block, transaction and log order. */
interface RangeFacts {
  readonly payments: PaymentFacts[]
  readonly deposits: BridgeDeposit[]
}

/**
 * Adds block times and token metadata to payments.
 * @param getBlockTime - The Unix time of a log's block, in milliseconds.
 * @param height - The last block of the range.
 */
export async function readPaymentFacts(
  reader: RangeReader,
  payments: readonly DerivedPayment[],
  getBlockTime: (log: RouterLog) => number,
  height: number,
): Promise<RangeFacts> {
  const { routers } = reader
  const { chainId } = reader.fail
  const tokens = await readTokens(reader, payments, height)
  const facts: RangeFacts = { payments: [], deposits: [] }
  for (const { ordinal, log, payment, integrationAddress, deposit, amountIn, pricing } of payments) {
    const { txHash } = log
    const tokenIn = tokens.get(amountIn.token)
    const tokenOut = tokens.get(payment.token)
    if (tokenIn === undefined || tokenOut === undefined) throw new Error(`A token of ${txHash} was not read.`)
    const paymentFacts: PaymentFacts = {
      chainId,
      txHash,
      ordinal,
      logIndex: log.logIndex,
      blockNumber: log.blockNumber,
      blockHash: log.blockHash,
      blockTimestamp: getBlockTime(log),
      router: { address: log.address, version: routers.get(log.address) ?? '' },
      sender: payment.sender,
      receiver: payment.receiver,
      memoHex: payment.memoHex,
      integrationAddress,
      source: { chainId, txHash },
      tokenIn: { ...tokenIn, amount: amountIn.amount },
      tokenOut: { ...tokenOut, gross: payment.gross, net: payment.net },
      pricing,
    }
    if (deposit === null) facts.payments.push(paymentFacts)
    else facts.deposits.push({ payment: paymentFacts, ...deposit })
  }
  return facts
}

/** Reads each token of the payments once. */
async function readTokens(
  reader: RangeReader,
  payments: readonly DerivedPayment[],
  height: number,
): Promise<ReadonlyMap<string, TokenFacts>> {
  const tokens = new Map<string, TokenFacts>()
  for (const { amountIn, payment } of payments)
    for (const address of [amountIn.token, payment.token])
      if (!tokens.has(address)) tokens.set(address, await reader.tokens.read(reader, address, height))
  return tokens
}

/** Collects the payments of a range, whose last block is at `height`, from its blocks, step by step. */
export function createPaymentCollector(reader: RangeReader, height: number) {
  const facts: RangeFacts = { payments: [], deposits: [] }
  const counts = { candidates: 0, wholeBlocks: 0, transactions: 0 }
  let logs: RouterLog[] = []
  const receipts = new Map<string, ReceiptFacts>()
  const blocks = new Map<number, BlockWithReceipts>()
  return {
    facts,
    counts,
    /** Proves and counts blocks, and collects those with relevant logs. @throws As {@link proveBlock}. */
    async add(read: readonly BlockWithReceipts[]): Promise<void> {
      for (const block of read) {
        const proven = await proveWithRetries(reader, block)
        const size = countTransactions(block.header)
        counts.candidates += 1
        counts.transactions += size
        if (shouldReadWhole(proven.receipts.length, size)) counts.wholeBlocks += 1
        if (proven.logs.length === 0) continue
        logs.push(...proven.logs)
        for (const receipt of proven.receipts) receipts.set(receipt.hash, receipt)
        blocks.set(block.header.ref.number, block)
      }
    },
    /** Reads the payments of the collected blocks, and drops the blocks. */
    async readPayments(): Promise<void> {
      const derived = await readDerivedPayments(reader, logs, { receipts, blocks })
      const { payments, deposits } = await readPaymentFacts(reader, derived, (log) => log.blockTimestamp ?? 0, height)
      for (const payment of payments) facts.payments.push(payment)
      for (const deposit of deposits) facts.deposits.push(deposit)
      logs = []
      receipts.clear()
      blocks.clear()
    },
  }
}

/**
 * Proves a block. If that fails and no other node can answer, reads its receipts again in one call, then by
 * transaction: a node may truncate only long answers.
 */
async function proveWithRetries(reader: RangeReader, { header, receipts }: BlockWithReceipts) {
  try {
    return proveBlock(reader, header, receipts)
  } catch (error) {
    if (!isUnproven(error) || !reader.node.isAlone()) throw error
    for (const ask of [readReceiptsInOneCall, readByTransaction]) {
      try {
        return proveBlock(reader, header, await ask(reader, header))
      } catch {
        reader.signal?.throwIfAborted()
      }
    }
    throw error
  }
}

export function toRange(
  { node, fail }: RangeReader,
  headers: readonly Header[],
  facts: RangeFacts,
  proof: 'root' | 'bloom',
): BlockRange {
  const [first, last] = [headers[0]?.ref, headers.at(-1)?.ref]
  if (first === undefined || last === undefined) throw fail.unavailable('eth_getBlockByNumber: no answer.')
  return { first, last, blocks: headers.map(({ ref }) => ref), ...facts, proof, node: node.name }
}
