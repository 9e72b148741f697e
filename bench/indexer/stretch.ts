/**
 * Inserts empty blocks into a chain. anvil would need hours to mine 200,000 of them, because the time per block grows
 * with the height. It loads them in seconds from one of its state dumps.
 *
 * @module
 */
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { type Hex, numberToHex } from 'viem'
import { openProver } from '../../packages/chain-evm/src/proof/prover.js'

/** The parsed parts of an anvil state dump; the rest is copied. */
export interface DumpedState {
  readonly block: object
  readonly blocks: readonly DumpedBlock[]
  readonly transactions: readonly DumpedTransaction[]
}

interface DumpedBlock {
  readonly header: Readonly<Record<'number' | 'timestamp', Hex>>
  readonly transactions: readonly unknown[]
}

interface DumpedTransaction {
  readonly info: object
  readonly block_number: number
}

/** Blocks per write. */
const written = 1_000

/**
 * Writes a state with empty blocks before each block from `firstBlock` on.
 * @param state - It must hold an empty block.
 * @returns The number of the last block.
 */
export async function writeStretched(
  path: string,
  state: DumpedState,
  { firstBlock, emptyBetween }: { readonly firstBlock: number; readonly emptyBetween: number },
): Promise<number> {
  const { blocks: dumped, transactions, ...rest } = state
  const blocks = dumped.toSorted((a, b) => Number(a.header.number) - Number(b.header.number))
  const empty = blocks.find(({ header, transactions: own }) => Number(header.number) > 0 && own.length === 0)
  if (empty === undefined) throw new Error('The state holds no empty block.')
  const { headerHash } = await openProver()
  const file = createWriteStream(path)
  const write = async (text: string) => void (file.write(text) || (await once(file, 'drain')))
  const moved = new Map<number, { readonly number: number; readonly hash: string }>()
  let last = { number: -1, hash: `0x${'0'.repeat(64)}`, time: Number(blocks[0]?.header.timestamp ?? 0) - 2 }
  let lines: string[] = []
  const add = async (block: DumpedBlock) => {
    const [number, time] = [last.number + 1, last.time + 2]
    const placed = { parentHash: last.hash, number: numberToHex(number), timestamp: numberToHex(time) }
    const header = { ...block.header, ...placed }
    const hash = headerHash(header)
    if (hash === null) throw new Error(`The header of block ${number} cannot be hashed.`)
    last = { number, hash, time }
    lines.push(`${number === 0 ? '' : ','}${JSON.stringify({ ...block, header })}`)
    if (lines.length < written) return
    await write(lines.join(''))
    lines = []
  }
  await write('{"blocks":[')
  for (const block of blocks) {
    const before = Number(block.header.number)
    for (let left = before < firstBlock ? 0 : emptyBetween; left > 0; left -= 1) await add(empty)
    await add(block)
    moved.set(before, last)
  }
  await write(`${lines.join('')}],"transactions":[`)
  for (const [n, transaction] of transactions.entries()) {
    const { number: block_number, hash: block_hash } = moved.get(transaction.block_number) ?? last
    // Drops the execution traces, which are most of the data and never read.
    const info = { ...transaction.info, traces: [] }
    await write(`${n === 0 ? '' : ','}${JSON.stringify({ ...transaction, info, block_number, block_hash })}`)
  }
  const block = { ...rest.block, number: numberToHex(last.number) }
  await write(`],${JSON.stringify({ ...rest, block, best_block_number: last.number }).slice(1)}`)
  file.end()
  await once(file, 'close')
  return last.number
}
