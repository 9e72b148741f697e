/**
 * A chain with empty blocks put between its blocks. anvil would need hours to mine 200,000 of them, as what one takes it grows with the height; it
 * loads them in seconds from a state that it wrote itself.
 * @module
 */
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { type Hex, keccak256, numberToHex, toRlp } from 'viem'

/** What is read and changed of a state that anvil dumps; the rest goes through. */
export interface DumpedState {
  block: { number: Hex }
  best_block_number: number
  blocks: DumpedBlock[]
  transactions: DumpedTransaction[]
}

interface DumpedBlock {
  header: Readonly<Record<(typeof hashedFields)[number], Hex>>
  readonly transactions: readonly unknown[]
}

interface DumpedTransaction {
  info: { traces: readonly unknown[] }
  block_hash: Hex
  block_number: number
}

/** The fields of a header in the order in which they are hashed. */
const hashedFields = [
  ...(['parentHash', 'sha3Uncles', 'miner', 'stateRoot', 'transactionsRoot', 'receiptsRoot', 'logsBloom'] as const),
  ...(['difficulty', 'number', 'gasLimit', 'gasUsed', 'timestamp', 'extraData', 'mixHash', 'nonce'] as const),
  ...(['baseFeePerGas', 'withdrawalsRoot', 'blobGasUsed', 'excessBlobGas'] as const),
  ...(['parentBeaconBlockRoot', 'requestsHash'] as const),
]
/** Numbers, which are hashed without leading zeros. The others are bytes of a fixed length. */
const numbers = new Set<string>([
  ...['difficulty', 'number', 'gasLimit', 'gasUsed', 'timestamp', 'baseFeePerGas', 'blobGasUsed', 'excessBlobGas'],
])

/** Blocks that are written at a time. */
const written = 1_000

/**
 * Writes a state whose blocks from `firstBlock` on have empty ones before them.
 * @param state - Is changed. It must hold an empty block.
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
  const file = createWriteStream(path)
  const write = async (text: string) => void (file.write(text) || (await once(file, 'drain')))
  const moved = new Map<number, { readonly number: number; readonly hash: Hex }>()
  let last = { number: -1, hash: numberToHex(0, { size: 32 }), time: Number(blocks[0]?.header.timestamp ?? 0) - 2 }
  let lines: string[] = []
  const add = async (block: DumpedBlock) => {
    const [number, time] = [last.number + 1, last.time + 2]
    const placed = { parentHash: last.hash, number: numberToHex(number), timestamp: numberToHex(time) }
    const header = { ...block.header, ...placed }
    last = { number, hash: hashOf(header), time }
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
    // Nobody asks how a transaction ran, which is most of it.
    const info = { ...transaction.info, traces: [] }
    await write(`${n === 0 ? '' : ','}${JSON.stringify({ ...transaction, info, block_number, block_hash })}`)
  }
  const block = { ...rest.block, number: numberToHex(last.number) }
  await write(`],${JSON.stringify({ ...rest, block, best_block_number: last.number }).slice(1)}`)
  file.end()
  await once(file, 'close')
  return last.number
}

function hashOf(header: DumpedBlock['header']): Hex {
  const bytes = (name: (typeof hashedFields)[number]): Hex => {
    const value = header[name]
    if (!numbers.has(name)) return value
    return BigInt(value) === 0n ? '0x' : numberToHex(BigInt(value), { size: Math.ceil((value.length - 2) / 2) })
  }
  return keccak256(toRlp(hashedFields.map(bytes)))
}
