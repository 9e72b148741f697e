/** A chain as a list of blocks: a test decides the payments of each block. */
import type { BlockRef, Chain, PaymentFacts } from '@payment-integration/core/ports'
import { facts } from './index-payments.js'

/** A test's choices about a payment. The block decides some fields; every other one has a default. */
export type MinedPayment = Partial<
  Omit<PaymentFacts, 'chainId' | 'blockNumber' | 'blockHash' | 'blockTimestamp' | 'logIndex'>
>

const genesisTime = Date.UTC(2026, 0, 2, 3, 4, 5)
const word = (number: number) => `0x${number.toString(16).padStart(64, '0')}`

/** One block per second, unless a test names the time of a block itself. */
export function listedChain(chainId: number) {
  let forks = 0
  const blocks: { readonly ref: BlockRef; readonly payments: readonly PaymentFacts[] }[] = []

  function mine(payments: readonly MinedPayment[], timestamp = genesisTime + blocks.length * 1_000): void {
    const number = blocks.length
    const hash = word(forks * 1_000_000_000 + chainId * 1_000_000 + number + 1)
    const parentHash = blocks.at(-1)?.ref.hash ?? word(0)
    blocks.push({
      ref: { number, hash, parentHash, timestamp },
      payments: payments.map((payment, logIndex) => ({
        ...facts({ ...payment, chainId }),
        logIndex,
        blockNumber: number,
        blockHash: hash,
        blockTimestamp: timestamp,
      })),
    })
  }

  /** Removes the newest blocks: the next ones mined form another branch. */
  function drop(count: number): void {
    blocks.splice(blocks.length - count)
    forks += 1
  }

  const refAt = (number: number) => {
    const block = blocks[number]
    if (block === undefined) throw new Error(`There is no block ${number} on chain ${chainId}.`)
    return block.ref
  }
  const chain: Chain = {
    chainId,
    routers: [facts().router.address],
    endpoints: () => [],
    head: async () => refAt(blocks.length - 1),
    block: async (number) => blocks[number]?.ref ?? null,
    async *ranges({ from, to }) {
      const read = blocks.slice(from, to + 1)
      yield {
        first: refAt(from),
        last: refAt(to),
        blocks: read.map(({ ref }) => ref),
        payments: read.flatMap((block) => block.payments),
        deposits: [],
        proof: 'root',
        endpoint: 'listed #1',
      }
    },
    watch: async () => undefined,
    transactionFate: async () => ({ fate: 'unknown', blockNumber: null }),
  }
  mine([])
  return { chain, mine, drop }
}
