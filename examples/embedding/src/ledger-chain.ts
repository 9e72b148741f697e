/** A non-EVM chain: a ledger with base58 ids, read over HTTP. A model for an adapter of your own. @module */
import { createHash } from 'node:crypto'
import { ChainError } from '@payment-integration/core'
import type { BlockRange, BlockRef, Chain, PaymentFacts } from '@payment-integration/core/ports'
import { fromBase58, toBase58 } from './base58.js'

/** A block as the ledger's node returns it. */
export interface LedgerBlock {
  readonly height: number
  readonly id: string
  readonly parent: string
  readonly time: number // unix seconds
  readonly transfers: readonly Readonly<Record<'id' | 'from' | 'to' | 'units', string>>[]
}

const router = toAddress('the ledger itself')
const coin = { address: toAddress('LEDGER'), symbol: 'LDG', decimals: 9 }

/** Converts an id of the ledger to the interface's form: 32 bytes as hex. A longer id is rejected. */
const toHash = (id: string) => `0x${fromBase58(id, 32).toString('hex')}`

/** Derives an address of 20 bytes, as the interface has it, from an account of the ledger. */
function toAddress(account: string): string {
  return `0x${createHash('sha256').update(account).digest('hex').slice(24)}`
}

/** Reads a ledger. @param nodeUrl - `GET /head`, `GET /block/<height>` and `GET /transfer/<id>` answer JSON. */
export function createLedgerChain({ chainId, nodeUrl }: { readonly chainId: number; readonly nodeUrl: string }): Chain {
  const unavailable = (message: string) => new ChainError('ERR_CHAIN_UNAVAILABLE', chainId, message)

  async function get<T>(path: string, signal?: AbortSignal): Promise<T | null> {
    const response = await fetch(`${nodeUrl}${path}`, { signal: signal ?? null }).catch((error: unknown) => {
      signal?.throwIfAborted()
      throw unavailable(`The ledger's node did not answer: ${(error as Error).name}.`)
    })
    if (response.status === 404) return null
    if (!response.ok) throw unavailable(`The ledger's node answered ${response.status}.`)
    return (await response.json()) as T
  }
  const getRef = ({ height, id, parent, time }: LedgerBlock): BlockRef => ({
    number: height,
    hash: toHash(id),
    parentHash: toHash(parent),
    timestamp: time * 1_000,
  })
  function getPayments(block: LedgerBlock): PaymentFacts[] {
    const { number: blockNumber, hash: blockHash, timestamp: blockTimestamp } = getRef(block)
    return block.transfers.map(({ id, from, to, units }, logIndex) => ({
      ...{ chainId, txHash: toHash(id), ordinal: 0, logIndex, blockNumber, blockHash, blockTimestamp },
      router: { address: router, version: '1.0' },
      ...{
        sender: toAddress(from),
        receiver: toAddress(to),
        memoHex: `0x${'00'.repeat(32)}`,
        integrationAddress: null,
      },
      source: { chainId, txHash: toHash(id) },
      tokenIn: { ...coin, amount: BigInt(units) },
      tokenOut: { ...coin, gross: BigInt(units), net: BigInt(units) },
      pricing: { listedToken: null, feeds: [], calledAmount: null, serviceFee: null },
    }))
  }

  return {
    chainId,
    adapter: 'ledger',
    routers: [router],
    async head(signal) {
      const block = await get<LedgerBlock>('/head', signal)
      if (block === null) throw unavailable("The ledger's node has no block.")
      return getRef(block)
    },
    async block(number, signal) {
      const block = await get<LedgerBlock>(`/block/${number}`, signal)
      return block === null ? null : getRef(block)
    },
    async *ranges({ from, to }, signal): AsyncGenerator<BlockRange> {
      for (let height = from; height <= to; height += 1) {
        const block = await get<LedgerBlock>(`/block/${height}`, signal)
        if (block === null) throw new ChainError('ERR_CHAIN_RANGE_GONE', chainId, `The ledger has no block ${height}.`)
        const ref = getRef(block)
        // The ledger's node is trusted: nothing proves that a block has no other transfer.
        const proof = { proof: 'none', node: new URL(nodeUrl).host } as const
        yield { first: ref, last: ref, blocks: [ref], payments: getPayments(block), deposits: [], ...proof }
      }
    },
    async transactionFate(txHash, signal) {
      const transfer = await get<{ readonly height: number }>(`/transfer/${toBase58(txHash)}`, signal)
      return { fate: transfer === null ? 'unknown' : 'succeeded', blockNumber: transfer?.height ?? null }
    },
    nativeHash: toBase58,
    watch: async () => undefined, // the ledger announces nothing: the indexer polls
    nodes: () => [],
  }
}
