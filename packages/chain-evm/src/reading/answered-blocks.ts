/** Reads blocks with their receipts in one request, and with their transactions where most of them pay. @module */
import { blockTransactions } from '../internal/answers.js'
import type { RangeReader } from '../range-reader.js'
import type { AnsweredBlock } from './block-contents.js'
import { readByTransaction, receiptsCall, receiptsIn } from './block-receipts.js'
import { assertAuthentic } from './header-kind.js'
import { blockCall, headerCall, toHeader } from './headers.js'
import { askOwnChain } from './own-chain.js'
import { asksRaw, tryRaw } from './raw-receipts.js'
import { byBlock, goesByBlock } from './receipts-by-block.js'

/** What is asked for besides headers and receipts. */
export interface Besides {
  /** The transactions of each block. */
  readonly whole: boolean
  /** The node's chain id. Blocks that continue those of an earlier request need no second answer. */
  readonly chainId: boolean
}

/**
 * Reads blocks `from` to `to`, both included. What the node cannot answer by block is asked for by transaction.
 * @throws ChainError `ERR_CHAIN_RANGE_GONE` when a block is missing; `ERR_CHAIN_PROOF_FAILED` when a header was
 * changed; `ERR_CHAIN_UNAVAILABLE`.
 */
export async function readAnsweredBlocks(
  reader: RangeReader,
  from: number,
  to: number,
  { whole, chainId }: Besides,
  signal?: AbortSignal,
): Promise<readonly AnsweredBlock[]> {
  const { rpc, fail } = reader
  const heights = Array.from({ length: to - from + 1 }, (_, position) => from + position)
  const together = goesByBlock(rpc, heights.length)
  const isRaw = asksRaw(rpc)
  const width = together ? 2 : 1
  const calls = heights.flatMap((height) => {
    const block = whole ? blockCall(height) : headerCall(height)
    return together ? [block, receiptsCall(height, isRaw)] : [block]
  })
  const ask = () => (chainId ? askOwnChain(reader, calls, signal) : rpc.askAll(calls, signal))
  const outcomes = await (together ? byBlock(rpc, heights.length, ask) : ask())
  const headers = heights.map((height, position) => toHeader(reader, height, outcomes[position * width]))
  assertAuthentic(reader, headers)
  const blocks: AnsweredBlock[] = []
  for (const [position, header] of headers.entries()) {
    const block = outcomes[position * width]
    const transactions = whole && block?.ok ? blockTransactions(block.result, fail) : null
    const answered = together ? receiptsIn(reader, header, outcomes[position * width + 1], isRaw) : null
    const receipts = answered ?? (await readByTransaction(reader, header, signal))
    blocks.push({ header, receipts, transactions })
  }
  if (together) await tryRaw(reader, headers, signal)
  return blocks
}
