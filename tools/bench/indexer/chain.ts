/** Starts a development chain with payments to index. @module */
import { encodeIntegrationSuffix } from '@payment-integration/chain-evm'
import { type Anvil, deployDevRouter, startAnvil } from '@payment-integration/chain-evm/dev'
import { encodeFunctionData, maxUint256, parseAbi, stringToHex } from 'viem'
import { integrationAddress } from './integration.js'
import { type RpcCall, rpcOf } from './rpc.js'

/** Content of the chain. */
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
  /** First block to index: the contracts are deployed below it. */
  readonly firstBlock: number
  stop(): Promise<void>
}

/**
 * An account without a key: anvil recovers the signer of a signed transaction at each read, which would take most of
 * the time.
 */
const from = `0x${'ab'.repeat(20)}` as const

const abi = parseAbi([
  'function pay(bytes32 memo, uint256 amount, address token, address receiver) payable',
  'function mint(address to, uint256 value)',
  'function approve(address spender, uint256 value)',
])
const anvilArgs = ['--prune-history', '--no-mining', '--gas-limit', '1000000000']

/** Starts anvil and mines the payments, each a transaction of its own, with no empty blocks between them. */
export async function fillChain(plan: Pick<ChainPlan, 'payments' | 'perBlock'>): Promise<FilledChain> {
  const args = [...anvilArgs, '--auto-impersonate', '--timestamp', '1760000000']
  const anvil = await startAnvil({ args })
  try {
    return { ...(await fill(anvil, plan)), ...anvil }
  } catch (error) {
    await anvil.stop()
    throw error
  }
}

async function fill({ rpcUrl, chainId }: Anvil, { payments, perBlock }: Pick<ChainPlan, 'payments' | 'perBlock'>) {
  const rpc = rpcOf(rpcUrl)
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
  const mine = () => rpc([['evm_mine', []]])
  const mint = encodeFunctionData({ abi, functionName: 'mint', args: [from, maxUint256 >> 32n] })
  const approve = encodeFunctionData({ abi, functionName: 'approve', args: [deployment.router.address, maxUint256] })
  await rpc([send(token, mint), send(token, approve)])
  await mine()
  // An empty block, which a recording puts between others.
  await mine()
  const firstBlock = Number((await rpc([['eth_blockNumber', []]]))[0]) + 1
  const suffix = encodeIntegrationSuffix(integrationAddress).slice(2)
  for (let made = 0; made < payments; made += perBlock) {
    const calls: RpcCall[] = []
    for (let nth = made; nth < Math.min(made + perBlock, payments); nth += 1) {
      const receiver = `0x${(nth + 1).toString(16).padStart(40, 'e')}` as const
      const args = [stringToHex(`order ${nth}`, { size: 32 }), 1_000_000n + BigInt(nth), token, receiver] as const
      calls.push(send(deployment.router.address, encodeFunctionData({ abi, functionName: 'pay', args }) + suffix))
    }
    await rpc(calls)
    await mine()
  }
  const head = Number((await rpc([['eth_blockNumber', []]]))[0])
  return { head, router: deployment.router, firstBlock }
}
