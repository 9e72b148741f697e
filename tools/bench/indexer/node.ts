/** A node in a process of its own. It prepares all answers from a recording, so that they cost little. @module */
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { measureReceipt, writeReceipt } from '../../../packages/chain-evm/src/proof/receipts.js'
import { RlpWriter, toHex } from '../../../packages/chain-evm/src/proof/rlp.js'
import { answer } from '../processes.js'
import { createRpc, type RecordedBlock } from './chain.js'

const { RECORDING: path = '', FALLBACK_URL: fallbackUrl = '', LATENCY_MS, RAW } = process.env
const latencyMs = Number(LATENCY_MS ?? 0)

/** Answers for one block, as JSON text. */
interface StoredBlock {
  readonly full: string
  readonly withHashes: string
  readonly receipts: string
  /** Null for a node without raw receipts. */
  readonly raw: string | null
  readonly logs: readonly { readonly address: string; readonly topic: string; readonly json: string }[]
}
interface Log {
  readonly address: string
  readonly topics: readonly string[]
}
interface Filter {
  readonly fromBlock: string
  readonly toBlock: string
  readonly address?: string | readonly string[]
  readonly topics?: readonly (string | readonly string[] | null)[]
}
type Call = { readonly id: number; readonly method: string; readonly params?: readonly unknown[] }

const writer = new RlpWriter()
function encodeRawReceipts(receipts: RecordedBlock['receipts']): string {
  const encoded = receipts.map((receipt) => {
    const measured = measureReceipt(receipt)
    writer.at = 0
    writer.reserve(measured.length)
    writeReceipt(writer, measured)
    return toHex(writer.bytes.subarray(0, writer.at))
  })
  return JSON.stringify(encoded)
}

const blocks: StoredBlock[] = []
const heights = new Map<string, number>()
for await (const line of createInterface({ input: createReadStream(path) })) {
  const { block, receipts } = JSON.parse(line) as RecordedBlock
  const transactions = block.transactions.map((each) => (each as { hash: string }).hash)
  heights.set(block.hash, blocks.length)
  blocks.push({
    full: JSON.stringify(block),
    withHashes: JSON.stringify({ ...block, transactions }),
    receipts: JSON.stringify(receipts),
    raw: RAW === 'on' ? encodeRawReceipts(receipts) : null,
    logs: receipts.flatMap(({ logs }) =>
      (logs as Log[]).map((log) => ({ address: log.address, topic: log.topics[0] ?? '', json: JSON.stringify(log) })),
    ),
  })
}

const counts = { requests: 0, calls: 0, bytes: 0 }
/** Answers of the node at `FALLBACK_URL` to calls about tokens, which do not change. */
const fallbacks = new Map<string, Promise<string>>()
const head = blocks.length - 1

function getHeight(tag: unknown): number {
  return tag === 'latest' || tag === 'safe' || tag === 'finalized' ? head : Number(tag)
}

/** Null when the node has no such method. */
function getResult({ method, params = [] }: Call): string | null | Promise<string> {
  const [first, second] = params
  switch (method) {
    case 'eth_blockNumber':
      return `"0x${head.toString(16)}"`
    case 'eth_getBlockByNumber':
      return getBlockText(blocks[getHeight(first)], second)
    case 'eth_getBlockByHash':
      return getBlockText(blocks[heights.get(String(first)) ?? -1], second)
    case 'eth_getBlockReceipts':
      return blocks[heights.get(String(first)) ?? getHeight(first)]?.receipts ?? 'null'
    case 'debug_getRawReceipts':
      return blocks[getHeight(first)]?.raw ?? null
    case 'eth_getLogs':
      return getLogsText(first as Filter)
    default:
      return askFallback(method, params)
  }
}

function getBlockText(block: StoredBlock | undefined, isFull: unknown): string {
  if (block === undefined) return 'null'
  return isFull === true ? block.full : block.withHashes
}

function getLogsText({ fromBlock, toBlock, address, topics }: Filter): string {
  const addresses = address === undefined ? null : new Set([address].flat())
  const wantedTopics = topics?.[0] == null ? null : new Set([topics[0]].flat())
  const logs: string[] = []
  for (let height = getHeight(fromBlock); height <= Math.min(head, getHeight(toBlock)); height += 1)
    for (const log of blocks[height]?.logs ?? [])
      if ((addresses?.has(log.address) ?? true) && (wantedTopics?.has(log.topic) ?? true)) logs.push(log.json)
  return `[${logs.join(',')}]`
}

/** Asks the node at `FALLBACK_URL`, always for its latest block. */
function askFallback(method: string, params: readonly unknown[]): Promise<string> {
  const args = method === 'eth_call' ? [params[0], 'latest'] : params
  const key = JSON.stringify([method, args])
  const text = fallbacks.get(key) ?? createRpc(fallbackUrl)([[method, args]]).then(([result]) => JSON.stringify(result))
  fallbacks.set(key, text)
  return text
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', async () => {
    const payload = JSON.parse(Buffer.concat(chunks).toString()) as Call | readonly Call[]
    const calls = [payload].flat() as Call[]
    counts.requests += 1
    counts.calls += calls.length
    const answers = []
    for (const call of calls) {
      const result = await getResult(call)
      const outcome = result === null ? '"error":{"code":-32601,"message":"Method not found"}' : `"result":${result}`
      answers.push(`{"jsonrpc":"2.0","id":${call.id},${outcome}}`)
    }
    const body = Buffer.from(Array.isArray(payload) ? `[${answers.join(',')}]` : answers.join(''))
    counts.bytes += body.length
    const send = () =>
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body)
    if (latencyMs > 0) setTimeout(send, latencyMs)
    else send()
  })
})
server.keepAliveTimeout = 600_000
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const node = { url: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`, counts: () => counts }
export type Node = typeof node
answer(node)
