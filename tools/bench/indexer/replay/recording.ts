/** Records the blocks of a chain, and puts empty ones between them. @module */
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { numberToHex } from 'viem'
import { openProver } from '../../../../packages/chain-evm/src/proof/prover.js'
import { rpcOf } from '../rpc.js'

/** A block as a node answers it. */
export interface RecordedBlock {
  /** With its transactions. */
  readonly block: Readonly<Record<string, unknown>> & {
    readonly number: string
    readonly hash: string
    readonly timestamp: string
    readonly transactions: readonly object[]
  }
  readonly receipts: readonly { readonly logs: readonly object[] }[]
}

/** Blocks of a request. */
const batch = 50

/**
 * Writes all blocks up to `head` to a file, one JSON text a line, with empty ones before each from `firstBlock` on.
 * @returns The number of the last block.
 */
export async function recordChain(
  path: string,
  {
    rpcUrl,
    head,
    firstBlock,
    emptyBetween,
  }: {
    readonly rpcUrl: string
    readonly head: number
    readonly firstBlock: number
    readonly emptyBetween: number
  },
): Promise<number> {
  const { headerHash } = await openProver()
  const file = createWriteStream(path)
  const write = async (text: string) => void (file.write(text) || (await once(file, 'drain')))
  let last: RecordedBlock['block'] | undefined
  let empty: RecordedBlock | undefined
  const add = async (recorded: RecordedBlock) => {
    const moved = last === undefined ? recorded : moveBehind(recorded, last, headerHash)
    last = moved.block
    await write(`${JSON.stringify(moved)}\n`)
  }
  for (let from = 0; from <= head; from += batch) {
    for (const recorded of await readBlocks(rpcUrl, from, Math.min(head, from + batch - 1))) {
      const number = Number(recorded.block.number)
      if (number > 0 && recorded.block.transactions.length === 0) empty = recorded
      for (let left = number < firstBlock ? 0 : emptyBetween; left > 0; left -= 1) {
        if (empty === undefined) throw new Error('The chain holds no empty block.')
        await add(empty)
      }
      await add(recorded)
    }
  }
  file.end()
  await once(file, 'close')
  return Number(last?.number)
}

async function readBlocks(rpcUrl: string, from: number, to: number): Promise<RecordedBlock[]> {
  const heights = Array.from({ length: to - from + 1 }, (_, n) => numberToHex(from + n))
  const answers = await rpcOf(rpcUrl)([
    ...heights.map((height) => ['eth_getBlockByNumber', [height, true]] as const),
    ...heights.map((height) => ['eth_getBlockReceipts', [height]] as const),
  ])
  return heights.map((_, n) => ({
    block: answers[n] as RecordedBlock['block'],
    receipts: answers[heights.length + n] as RecordedBlock['receipts'],
  }))
}

/** The block after another one, two seconds later, with a hash that its header has. */
function moveBehind(
  { block, receipts }: RecordedBlock,
  before: RecordedBlock['block'],
  headerHash: (header: RecordedBlock['block']) => string | null,
): RecordedBlock {
  const number = numberToHex(Number(before.number) + 1)
  const header = { ...block, number, parentHash: before.hash, timestamp: numberToHex(Number(before.timestamp) + 2) }
  const hash = headerHash(header)
  if (hash === null) throw new Error(`The header of block ${number} cannot be hashed.`)
  const at = { blockNumber: number, blockHash: hash }
  const transactions = block.transactions.map((transaction) => ({ ...transaction, ...at }))
  return {
    block: { ...header, hash, transactions },
    receipts: receipts.map(({ logs, ...receipt }) => ({
      ...receipt,
      ...at,
      logs: logs.map((log) => ({ ...log, ...at })),
    })),
  }
}
