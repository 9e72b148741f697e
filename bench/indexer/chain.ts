/** A development chain with payments to catch up with. @module */

import { encodeIntegrationSuffix } from '@payment-integration/chain-evm'
import { deployDevRouter, startAnvil } from '@payment-integration/chain-evm/dev'
import { encodeFunctionData, maxUint256, parseAbi, stringToHex } from 'viem'
import { integrationAddress } from './integration.js'

/** What the chain is to hold. */
export interface ChainPlan {
  readonly payments: number
  readonly perBlock: number
  /** Empty blocks before each block with payments. */
  readonly emptyBetween: number
}

/** A chain to read. */
export interface FilledChain {
  readonly rpcUrl: string
  readonly chainId: number
  readonly head: number
  readonly router: { readonly address: string; readonly version: string }
  /** First block worth reading: the contracts are deployed below it. */
  readonly firstBlock: number
  stop(): Promise<void>
}

/** Nobody has its key: for a signed transaction anvil finds its signer anew whenever it is read, which would be most of the time. */
const from = `0x${'ab'.repeat(20)}` as const

const abi = parseAbi([
  'function pay(bytes32 memo, uint256 amount, address token, address receiver) payable',
  'function mint(address to, uint256 value)',
  'function approve(address spender, uint256 value)',
])
/** Starts anvil and mines the payments, each a transaction of its own. */
export async function fillChain({ payments, perBlock, emptyBetween }: ChainPlan): Promise<FilledChain> {
  const anvil = await startAnvil({
    args: [
      '--prune-history',
      '--no-mining',
      '--auto-impersonate',
      '--timestamp',
      '1760000000',
      '--gas-limit',
      '1000000000',
    ],
  })
  const rpc = rpcOf(anvil.rpcUrl)
  await rpc([['anvil_setBlockTimestampInterval', [2]]])
  const mining = setInterval(() => void rpc([['evm_mine', []]]), 20)
  const deployment = await deployDevRouter({ rpcUrl: anvil.rpcUrl, chainId: anvil.chainId }).finally(() =>
    clearInterval(mining),
  )
  await rpc([['anvil_setBalance', [from, '0xffffffffffffffffffff']]])
  const token = deployment.tokens.usdc.address
  let nonce = 0
  // anvil answers a batch in any order: the nonces keep the payments in theirs, and a block is mined by a request of its own.
  const send = (to: string, data: string): Call => [
    'eth_sendTransaction',
    [{ from, to, data, gas: '0x493e0', nonce: `0x${(nonce++).toString(16)}` }],
  ]
  const mine = (blocks: number) => rpc([['anvil_mine', [`0x${blocks.toString(16)}`]]])
  const mint = encodeFunctionData({ abi, functionName: 'mint', args: [from, maxUint256 >> 32n] })
  const approve = encodeFunctionData({ abi, functionName: 'approve', args: [deployment.router.address, maxUint256] })
  await rpc([send(token, mint), send(token, approve)])
  await mine(1)
  const firstBlock = Number((await rpc([['eth_blockNumber', []]]))[0]) + 1
  const suffix = encodeIntegrationSuffix(integrationAddress).slice(2)
  for (let made = 0; made < payments; made += perBlock) {
    if (emptyBetween > 0) await mine(emptyBetween)
    const calls: Call[] = []
    for (let nth = made; nth < Math.min(made + perBlock, payments); nth += 1) {
      const receiver = `0x${(nth + 1).toString(16).padStart(40, 'e')}` as const
      const args = [stringToHex(`order ${nth}`, { size: 32 }), 1_000_000n + BigInt(nth), token, receiver] as const
      calls.push(send(deployment.router.address, encodeFunctionData({ abi, functionName: 'pay', args }) + suffix))
    }
    await rpc(calls)
    await mine(1)
  }
  const head = Number((await rpc([['eth_blockNumber', []]]))[0])
  return {
    rpcUrl: anvil.rpcUrl,
    chainId: anvil.chainId,
    head,
    router: deployment.router,
    firstBlock,
    stop: () => anvil.stop(),
  }
}

type Call = readonly [method: string, params: readonly unknown[]]

function rpcOf(url: string): (calls: readonly Call[]) => Promise<unknown[]> {
  return async (calls) => {
    const body = JSON.stringify(calls.map(([method, params], id) => ({ jsonrpc: '2.0', id, method, params })))
    const answer = await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
    const results = (await answer.json()) as { id: number; result?: unknown; error?: { message: string } }[]
    return results.map(({ result, error }) => {
      if (error !== undefined) throw new Error(`The development chain refused: ${error.message}`)
      return result
    })
  }
}
