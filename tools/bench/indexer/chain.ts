/** Mines a chain of payments on anvil, records it, and starts nodes that answer from the recording. @module */
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeIntegrationSuffix } from '@payment-integration/chain-evm'
import { type Anvil, deployDevRouter, startAnvil } from '@payment-integration/chain-evm/dev'
import { encodeFunctionData, maxUint256, numberToHex, parseAbi, stringToHex } from 'viem'
import { startWorker } from '../processes.js'
import type { Node } from './node.js'

/** The integration that every payment of the measured chains names. */
export const integrationAddress = `0x${'a1'.repeat(20)}`

export interface ChainPlan {
  readonly payments: number
  readonly perBlock: number
}

/** The latency of a node, and the methods it offers. */
export interface NodeTraits {
  /** Added to each request. */
  readonly latencyMs: number
  /** Whether the node has raw receipts. @default false */
  readonly raw?: boolean
}

/** A block as a node answers it. */
export interface RecordedBlock {
  /** With its transactions. */
  readonly block: { readonly number: string; readonly hash: string; readonly transactions: readonly object[] }
  readonly receipts: readonly { readonly logs: readonly object[] }[]
}

/** A node that answers from a recording. */
export interface ReplayNode {
  readonly rpcUrl: string
  readonly chainId: number
  readonly head: number
  readonly router: { readonly address: string; readonly version: string }
  /** First block to index: the contracts are deployed below it. */
  readonly firstBlock: number
  /** Requests that the node answered, their calls, and the bytes of the answers. */
  counts(): Promise<CallCounts>
  stop(): Promise<void>
}

export type CallCounts = ReturnType<Node['counts']>

/** A call of a node. */
export type RpcCall = readonly [method: string, params: readonly unknown[]]

/** Sends calls in one request and resolves their results in order. @throws Error When the node rejects one. */
export function createRpc(url: string): (calls: readonly RpcCall[]) => Promise<unknown[]> {
  return async (calls) => {
    const body = JSON.stringify(calls.map(([method, params], id) => ({ jsonrpc: '2.0', id, method, params })))
    const answer = await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
    const results = (await answer.json()) as { id: number; result?: unknown; error?: { message: string } }[]
    return results
      .sort((a, b) => a.id - b.id)
      .map(({ result, error }) => {
        if (error !== undefined) throw new Error(`The node answered an error: ${error.message}`)
        return result
      })
  }
}

/** Mines a chain and records it. anvil stays up for calls about tokens. @param program - The bundle of `node.ts`. */
export async function recordChain(plan: ChainPlan, program: string) {
  const args = ['--prune-history', '--no-mining', '--gas-limit', '1000000000']
  const anvil = await startAnvil({ args: [...args, '--auto-impersonate', '--timestamp', '1760000000'] })
  const folder = await mkdtemp(join(tmpdir(), 'bench-recording-'))
  const remove = async () => {
    await anvil.stop()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const chain = await mine(anvil, plan)
    const path = join(folder, 'blocks.jsonl')
    await record(path, anvil.rpcUrl, chain.head)
    const chainFacts = { ...chain, chainId: anvil.chainId }
    return {
      blocks: chain.head + 1,
      /** Starts a node; end it with its `stop`. */
      async open(traits: NodeTraits): Promise<ReplayNode> {
        return { ...chainFacts, ...(await openNode(program, path, anvil.rpcUrl, traits)) }
      },
      remove,
    }
  } catch (error) {
    await remove()
    throw error
  }
}

async function openNode(program: string, path: string, fallbackUrl: string, { latencyMs, raw = false }: NodeTraits) {
  const worker = startWorker<Node>(program, [], {
    NODE_OPTIONS: '--max-old-space-size=4096',
    RECORDING: path,
    FALLBACK_URL: fallbackUrl,
    LATENCY_MS: String(latencyMs),
    RAW: raw ? 'on' : 'off',
  })
  return { rpcUrl: await worker.ask('url'), counts: () => worker.ask('counts'), stop: () => worker.stop() }
}

// An impersonated account, without a key. For a signed transaction anvil recovers the signer at each read, which would
// take most of the time.
const from = `0x${'ab'.repeat(20)}` as const

const abi = parseAbi([
  'function pay(bytes32 memo, uint256 amount, address token, address receiver) payable',
  'function mint(address to, uint256 value)',
  'function approve(address spender, uint256 value)',
])

/** Mines the payments, each a transaction of its own. */
async function mine({ rpcUrl, chainId }: Anvil, { payments, perBlock }: ChainPlan) {
  const rpc = createRpc(rpcUrl)
  await rpc([['anvil_setBlockTimestampInterval', [2]]])
  const mining = setInterval(() => void rpc([['evm_mine', []]]), 20)
  const deployment = await deployDevRouter({ rpcUrl, chainId }).finally(() => clearInterval(mining))
  await rpc([['anvil_setBalance', [from, '0xffffffffffffffffffff']]])
  const token = deployment.tokens.usdc.address
  let nonce = 0
  // anvil runs a batch in any order: nonces order the payments, and a separate request mines a block.
  const send = (to: string, data: string): RpcCall => [
    'eth_sendTransaction',
    [{ from, to, data, gas: '0x493e0', nonce: `0x${(nonce++).toString(16)}` }],
  ]
  const mint = encodeFunctionData({ abi, functionName: 'mint', args: [from, maxUint256 >> 32n] })
  const approve = encodeFunctionData({ abi, functionName: 'approve', args: [deployment.router.address, maxUint256] })
  await rpc([send(token, mint), send(token, approve)])
  await rpc([['evm_mine', []]])
  const height = async () => Number((await rpc([['eth_blockNumber', []]]))[0])
  const firstBlock = (await height()) + 1
  const suffix = encodeIntegrationSuffix(integrationAddress).slice(2)
  for (let mined = 0; mined < payments; mined += perBlock) {
    const calls: RpcCall[] = []
    for (let nth = mined; nth < Math.min(mined + perBlock, payments); nth += 1) {
      const receiver = `0x${(nth + 1).toString(16).padStart(40, 'e')}` as const
      const args = [stringToHex(`order ${nth}`, { size: 32 }), 1_000_000n + BigInt(nth), token, receiver] as const
      calls.push(send(deployment.router.address, encodeFunctionData({ abi, functionName: 'pay', args }) + suffix))
    }
    await rpc(calls)
    await rpc([['evm_mine', []]])
  }
  return { head: await height(), router: deployment.router, firstBlock }
}

/** Blocks per request. */
const batch = 50

/** Writes all blocks to a file, one JSON text a line. */
async function record(path: string, rpcUrl: string, head: number): Promise<void> {
  const file = createWriteStream(path)
  for (let first = 0; first <= head; first += batch) {
    const heights = Array.from({ length: Math.min(batch, head - first + 1) }, (_, n) => numberToHex(first + n))
    const answers = await createRpc(rpcUrl)([
      ...heights.map((at) => ['eth_getBlockByNumber', [at, true]] as const),
      ...heights.map((at) => ['eth_getBlockReceipts', [at]] as const),
    ])
    for (const [n] of heights.entries()) {
      const text = JSON.stringify({ block: answers[n], receipts: answers[heights.length + n] })
      if (!file.write(`${text}\n`)) await once(file, 'drain')
    }
  }
  file.end()
  await once(file, 'close')
}
