/**
 * Proves the receipts of a block by its header and takes our logs from them, so that none is missing or made up.
 * Source: docs/decisions/completeness.md.
 * @module
 */
import { type Fields, isFields, readReceipt } from '../internal/answers.js'
import { toHash } from '../internal/hex.js'
import type { RangeReader } from '../range-reader.js'
import type { BlockReceipts, ProvenRaw } from './block-contents.js'
import type { Header } from './headers.js'
import { createOurLogs, type ProvenLogs } from './our-logs.js'

const nobody = `0x${'0'.repeat(40)}`

/**
 * Proves the receipts of a block and finds our logs in them. Log indexes are counted, so they follow the proven order.
 * @param answered - All receipts of the block, as the node answered them.
 * @throws ChainError `ERR_CHAIN_PROOF_FAILED` when they do not lead to the header's root; `ERR_CHAIN_RANGE_GONE` when
 * they are of another block; `ERR_CHAIN_UNAVAILABLE` when they are no receipts.
 */
export function proveBlock(reader: RangeReader, header: Header, answered: BlockReceipts): ProvenLogs {
  if ('raw' in answered) return ourRawLogs(reader, header, answered)
  const { fail } = reader
  const { ref } = header
  const all: Fields[] = []
  for (const receipt of answered) {
    if (!isFields(receipt)) throw fail.unavailable('a receipt was answered as something else than an object.')
    if (receipt['blockHash'] !== ref.hash && toHash(receipt['blockHash']) !== ref.hash)
      throw fail.gone(`the receipts of block ${ref.number} are of another block.`)
    all.push(receipt)
  }
  const proven = provenReceipts(reader, header, all)
  assertOwners(reader, header, proven)
  return ourLogs(reader, header, proven)
}

function provenReceipts(reader: RangeReader, header: Header, all: readonly Fields[]): readonly Fields[] {
  const { prover } = reader
  const { receiptsRoot, ref } = header
  const whole = prover.receiptsRoot(all)
  if ('root' in whole && whole.root === receiptsRoot) return all
  const last = all.at(-1)
  if (last !== undefined && isStateSync(last)) {
    const rest = all.slice(0, -1)
    const without = prover.receiptsRoot(rest)
    if ('root' in without && without.root === receiptsRoot) return rest
  }
  const what =
    receiptsRoot === null
      ? `the header of block ${ref.number} has no receipts root`
      : 'flaw' in whole
        ? `${whole.flaw} in a receipt of block ${ref.number}`
        : `the receipts of block ${ref.number} do not lead to the root in its header`
  reader.endpoint.note({ kind: 'proof-failed', what })
  throw reader.fail.unproven(
    `${what}. Use another endpoint; on a chain whose receipts are of a kind of their own, set its proof to none.`,
  )
}

/** Whether an answer did not lead to what a header commits to. */
export function isUnproven(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_CHAIN_PROOF_FAILED'
}

/** Polygon puts the receipt of a state sync, from nobody to nobody, behind those that its root commits to. */
function isStateSync(receipt: Fields): boolean {
  return receipt['from'] === nobody && receipt['to'] === nobody
}

/** The root does not commit to the hashes of transactions, but the header's own list names them in order. */
function assertOwners(
  { fail, endpoint }: RangeReader,
  { ref, transactions }: Header,
  receipts: readonly Fields[],
): void {
  if (transactions === null) return
  for (const [index, receipt] of receipts.entries()) {
    const hash = receipt['transactionHash']
    if (hash === transactions[index] || toHash(hash) === transactions[index]) continue
    const what = `receipt ${index} of block ${ref.number} is not of the transaction that the block names there`
    endpoint.note({ kind: 'contradiction', what })
    throw fail.unavailable(`${what}.`)
  }
}

function ourLogs(reader: RangeReader, { ref }: Header, proven: readonly Fields[]): ProvenLogs {
  const ours = createOurLogs(reader, ref)
  for (const receipt of proven) {
    const logs = receipt['logs'] as readonly Fields[]
    ours.add(logs.length, logs.some((log) => isListed(reader.routers, log)) ? readReceipt(receipt, reader.fail) : null)
  }
  return ours
}

/** Raw receipts belong to the transactions that the block names, in order. */
function ourRawLogs(reader: RangeReader, { ref, transactions }: Header, { raw }: ProvenRaw): ProvenLogs {
  const { routers, fail } = reader
  const ours = createOurLogs(reader, ref)
  for (const [index, { addresses, succeeded, logs }] of raw.entries()) {
    const hash = transactions?.[index]
    if (hash === undefined || !addresses.some((address) => routers.has(address))) {
      ours.add(addresses.length, null)
      continue
    }
    if (succeeded === null) throw fail.unavailable('a receipt was answered without a status of 0x0 or 0x1.')
    ours.add(addresses.length, { hash, blockHash: ref.hash, blockNumber: ref.number, succeeded, logs: logs() })
  }
  return ours
}

function isListed(routers: RangeReader['routers'], log: Fields): boolean {
  const address = log['address']
  return typeof address === 'string' && (routers.has(address) || routers.has(address.toLowerCase()))
}
