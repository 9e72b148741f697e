/** The transactions behind payment logs: what integration they name and what the payer gave. @module */
import { readReceipt, readTransaction, type TransactionFacts } from './internal/answers.js'
import type { RangeReader } from './range-reader.js'
import type { DecodedPayment, RouterLog, SwapCall } from './router-decoder.js'
import { swapInput, swappedPayment, type TokenAmount } from './token-in.js'

/** A payment, its log, and what the payer gave for it. */
export interface ReadPayment {
  readonly log: RouterLog
  readonly payment: DecodedPayment
  readonly given: TokenAmount
}

/** The payments of one transaction, by log index. */
export interface TransactionPayments {
  readonly txHash: string
  readonly integrationAddress: string | null
  readonly payments: readonly ReadPayment[]
}

interface Decoded {
  readonly log: RouterLog
  readonly payment: DecodedPayment
}

/**
 * Decodes logs, and reads the transaction of each payment (in batches) and the receipt of each swap.
 * @param logs - Logs of listed routers, by block and log index.
 * @throws ChainError `ERR_CHAIN_RANGE_GONE` when a transaction is no longer in the block its logs came from;
 * `ERR_CHAIN_UNAVAILABLE`.
 */
export async function readTransactions(
  reader: RangeReader,
  logs: readonly RouterLog[],
  signal?: AbortSignal,
): Promise<TransactionPayments[]> {
  const groups = [...decodeByTransaction(reader, logs)]
  const calls = groups.map(([hash]) => ({ method: 'eth_getTransactionByHash', params: [hash] }))
  const answers = await reader.rpc.all(calls, signal)
  const result: TransactionPayments[] = []
  for (const [index, [txHash, decoded]] of groups.entries()) {
    const transaction = readTransaction(answers[index], reader.fail)
    assertSameBlock('transaction', txHash, decoded, transaction, reader)
    const call = transaction.to === null ? null : reader.decoder.swapCall(transaction.input)
    result.push({
      txHash,
      integrationAddress: reader.decoder.integrationAddress(transaction.input),
      payments: call === null ? decoded.map(direct) : await readSwap(reader, transaction, call, decoded, signal),
    })
  }
  return result
}

function decodeByTransaction(reader: RangeReader, logs: readonly RouterLog[]): Map<string, Decoded[]> {
  const groups = new Map<string, Decoded[]>()
  for (const log of logs) {
    const payment = reader.decoder.decode(log)
    if (payment.kind === 'malformed') {
      reportMalformed(reader, log, payment.reason)
      continue
    }
    const group = groups.get(log.txHash)
    if (group === undefined) groups.set(log.txHash, [{ log, payment }])
    else group.push({ log, payment })
  }
  return groups
}

function reportMalformed({ chainId, routers, onQuarantine }: RangeReader, log: RouterLog, reason: string): void {
  const { txHash, blockNumber, logIndex, address } = log
  onQuarantine({
    chainId,
    txHash,
    blockNumber,
    logIndex,
    router: { address, version: routers.get(address) ?? '' },
    reason,
  })
}

function direct({ log, payment }: Decoded): ReadPayment {
  return { log, payment, given: { token: payment.token, amount: payment.gross } }
}

async function readSwap(
  reader: RangeReader,
  transaction: TransactionFacts,
  call: SwapCall,
  decoded: readonly Decoded[],
  signal?: AbortSignal,
): Promise<ReadPayment[]> {
  const emitted = decoded.map(({ log, payment }) => ({ router: log.address, payment }))
  const swapped = swappedPayment(transaction, call, emitted)
  if (swapped === null) return decoded.map(direct)
  const answer = await reader.rpc.call({ method: 'eth_getTransactionReceipt', params: [transaction.hash] }, signal)
  const receipt = readReceipt(answer, reader.fail)
  assertSameBlock('receipt', transaction.hash, decoded, receipt, reader)
  return decoded.map((item) => {
    if (item.payment !== swapped.payment) return direct(item)
    // The event repeats an argument of the call here, which may be anybody's address; who called is known.
    const payment = { ...item.payment, sender: transaction.from }
    return { log: item.log, payment, given: swapInput(transaction, call, swapped, receipt) }
  })
}

/** An answer for another hash means that a batch came back mixed up; another block means that the chain moved. */
function assertSameBlock<T extends { readonly hash: string; readonly blockHash: string }>(
  what: string,
  txHash: string,
  decoded: readonly Decoded[],
  answer: T | null,
  { fail }: RangeReader,
): asserts answer is T {
  if (answer === null) throw fail.gone(`the node has no ${what} ${txHash} in a block any more.`)
  if (answer.hash !== txHash) throw fail.unavailable(`${what} ${answer.hash} was answered for ${txHash}.`)
  if (decoded.some(({ log }) => log.blockHash !== answer.blockHash))
    throw fail.gone(`${what} ${txHash} is not in the block its logs came from.`)
}
