/** Blocks of the fake chain, with hashes as on a real one. Source: Ethereum yellow paper, section 4.3. @module */
import { concatHex, type Hex, keccak256, toHex } from 'viem'
import { computeBloom, computeTrieRoot, encodeRlp, encodeWhole, parseHex, type RlpItem } from './encoding.js'
import type { FakeTransaction } from './transaction.js'

/** A block of any branch. */
export interface FakeBlock {
  readonly number: number
  readonly hash: Hex
  readonly parent: FakeBlock | null
  /** Unix time in seconds. */
  readonly timestamp: number
  readonly transactions: readonly FakeTransaction[]
  /** The header as a node answers it, without transactions. */
  readonly header: Readonly<Record<string, unknown>>
}

const noHash: Hex = `0x${'00'.repeat(32)}`
const zeroAddress: Hex = `0x${'00'.repeat(20)}`
/** The uncles hash of a block without uncles. */
const noUncles: Hex = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347'
/** The root of an empty list. */
const emptyRoot = computeTrieRoot([])
const gasLimit = 30_000_000
const gasPerTransaction = 100_000

/** Distinguishes blocks of equal content. */
export interface BlockKind {
  readonly salt: Hex
  /** Whether the chain hashes blocks in its own way, as some rollups do: then the fields do not give the hash. */
  readonly hasCustomHash: boolean
}

/** Builds the block that follows `parent`; null makes a genesis. @param timestamp - Unix time in seconds. */
export function makeBlock(
  parent: FakeBlock | null,
  transactions: readonly FakeTransaction[],
  timestamp: number,
  { salt, hasCustomHash }: BlockKind,
): FakeBlock {
  const number = parent === null ? 0 : parent.number + 1
  const bloom = computeBloom(transactions.flatMap(({ logs }) => logs))
  const receiptsRoot = computeTrieRoot(transactions.map((transaction, index) => encodeReceipt(transaction, index)))
  // An arbitrary transactions hash: blocks are proven by their receipts.
  const transactionsRoot =
    transactions.length === 0 ? emptyRoot : keccak256(concatHex(transactions.map(({ hash }) => hash)))
  const gasUsed = transactions.length * gasPerTransaction
  const fields: RlpItem[] = [
    parseHex(parent?.hash ?? noHash),
    parseHex(noUncles),
    parseHex(zeroAddress),
    parseHex(noHash),
    parseHex(transactionsRoot),
    parseHex(receiptsRoot),
    bloom,
    encodeWhole(0),
    encodeWhole(number),
    encodeWhole(gasLimit),
    encodeWhole(gasUsed),
    encodeWhole(timestamp),
    parseHex(salt),
    parseHex(noHash),
    parseHex('0x0000000000000000'),
    encodeWhole(1),
  ]
  const hash = keccak256(encodeRlp(hasCustomHash ? [fields] : fields))
  const header = {
    number: toHex(number),
    hash,
    parentHash: parent?.hash ?? noHash,
    sha3Uncles: noUncles,
    miner: zeroAddress,
    stateRoot: noHash,
    transactionsRoot,
    receiptsRoot,
    logsBloom: toHex(bloom),
    difficulty: '0x0',
    gasLimit: toHex(gasLimit),
    gasUsed: toHex(gasUsed),
    timestamp: toHex(timestamp),
    extraData: salt,
    mixHash: noHash,
    nonce: '0x0000000000000000',
    baseFeePerGas: '0x1',
    size: '0x400',
    uncles: [],
  }
  return { number, hash, parent, timestamp, transactions, header }
}

/** A receipt of type 2, or a legacy one, as encoded in the trie. */
function encodeReceipt({ type, succeeded, logs }: FakeTransaction, index: number): Uint8Array {
  const body = encodeRlp([
    encodeWhole(succeeded ? 1 : 0),
    encodeWhole((index + 1) * gasPerTransaction),
    computeBloom(logs),
    logs.map(({ address, topics, data }): RlpItem => [parseHex(address), topics.map(parseHex), parseHex(data)]),
  ])
  return type === 0 ? body : Buffer.concat([Uint8Array.of(type), body])
}

/** The receipts of a block in a node's format. */
export function getReceipts(block: FakeBlock): Readonly<Record<string, unknown>>[] {
  let logIndex = 0
  return block.transactions.map((transaction, index) => {
    const position = getPosition(block, transaction, index)
    return {
      ...position,
      type: toHex(transaction.type),
      status: transaction.succeeded ? '0x1' : '0x0',
      from: transaction.from,
      to: transaction.to,
      contractAddress: null,
      cumulativeGasUsed: toHex((index + 1) * gasPerTransaction),
      gasUsed: toHex(gasPerTransaction),
      effectiveGasPrice: '0x1',
      logsBloom: toHex(computeBloom(transaction.logs)),
      logs: transaction.logs.map(({ address, topics, data }) => ({
        address,
        topics,
        data,
        ...position,
        blockTimestamp: toHex(block.timestamp),
        logIndex: toHex(logIndex++),
        removed: false,
      })),
    }
  })
}

/** A transaction of a block in a node's format. */
export function getTransaction(block: FakeBlock, index: number): Readonly<Record<string, unknown>> | null {
  const transaction = block.transactions[index]
  if (transaction === undefined) return null
  const { transactionHash, ...position } = getPosition(block, transaction, index)
  const { from, to, value, input, type } = transaction
  const fees = { gas: toHex(gasPerTransaction), gasPrice: '0x1', nonce: toHex(transaction.nonce) }
  return { ...position, ...fees, hash: transactionHash, type: toHex(type), from, to, value: toHex(value), input }
}

function getPosition(block: FakeBlock, { hash }: FakeTransaction, index: number) {
  return {
    transactionHash: hash,
    transactionIndex: toHex(index),
    blockHash: block.hash,
    blockNumber: toHex(block.number),
  }
}
