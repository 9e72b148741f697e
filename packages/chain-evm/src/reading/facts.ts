/** Turns what was read of payments into facts. @module */
import type { BridgeDeposit, PaymentFacts, TokenFacts } from '@payment-integration/core/ports'
import type { RangeReader } from '../range-reader.js'
import type { TransactionPayments } from '../read-transactions.js'
import type { RouterLog } from '../router-decoder.js'

/** Payments on the chain and deposits that left it, by block, then transaction, then log index. */
export interface RangeFacts {
  readonly payments: PaymentFacts[]
  readonly deposits: BridgeDeposit[]
}

/**
 * Makes the facts of payments.
 * @param timeOf - When a log's block was made, Unix milliseconds.
 * @param height - The block up to which payments are read.
 * @throws ChainError `ERR_CHAIN_UNAVAILABLE` when the node does not answer for a token.
 */
export async function readFacts(
  reader: RangeReader,
  transactions: readonly TransactionPayments[],
  timeOf: (log: RouterLog) => number,
  height: number,
  signal?: AbortSignal,
): Promise<RangeFacts> {
  const tokens = await readTokens(reader, transactions, height, signal)
  const facts: RangeFacts = { payments: [], deposits: [] }
  for (const transaction of transactions) addFacts(reader, transaction, tokens, timeOf, facts)
  return facts
}

type Tokens = ReadonlyMap<string, TokenFacts>

async function readTokens(
  { tokens, endpoint }: RangeReader,
  transactions: readonly TransactionPayments[],
  height: number,
  signal?: AbortSignal,
): Promise<Tokens> {
  const known = new Map<string, TokenFacts>()
  for (const { payments } of transactions)
    for (const { given, payment } of payments)
      for (const address of [given.token, payment.token])
        if (!known.has(address)) known.set(address, await tokens.of(endpoint, address, height, signal))
  return known
}

function addFacts(
  { chainId, routers }: RangeReader,
  { txHash, payments }: TransactionPayments,
  tokens: Tokens,
  timeOf: (log: RouterLog) => number,
  into: RangeFacts,
): void {
  for (const [ordinal, { log, payment, integrationAddress, bridged, given, pricing }] of payments.entries()) {
    const tokenIn = tokens.get(given.token)
    const tokenOut = tokens.get(payment.token)
    if (tokenIn === undefined || tokenOut === undefined) throw new Error(`A token of ${txHash} was not read.`)
    const facts: PaymentFacts = {
      chainId,
      txHash,
      ordinal,
      logIndex: log.logIndex,
      blockNumber: log.blockNumber,
      blockHash: log.blockHash,
      blockTimestamp: timeOf(log),
      router: { address: log.address, version: routers.get(log.address) ?? '' },
      sender: payment.sender,
      receiver: payment.receiver,
      memoHex: payment.memoHex,
      integrationAddress,
      source: { chainId, txHash },
      tokenIn: {
        address: tokenIn.address,
        symbol: tokenIn.symbol,
        decimals: tokenIn.decimals,
        amount: given.amount,
      },
      tokenOut: {
        address: tokenOut.address,
        symbol: tokenOut.symbol,
        decimals: tokenOut.decimals,
        gross: payment.gross,
        net: payment.net,
      },
      pricing,
    }
    if (bridged === null) into.payments.push(facts)
    else into.deposits.push({ payment: facts, ...bridged })
  }
}
