/** A real anvil that mines on demand. @module */
import { type Abi, type Address, concat, encodeDeployData, encodeFunctionData, type Hex } from 'viem'
import { afterAll } from 'vitest'
import { encodeIntegrationSuffix } from '../src/decode/integrations.js'
import { nativeTokenAddress } from '../src/decode/router-decoder.js'
import { startAnvil } from '../src/dev/anvil.js'
import { devRouter, devToken } from '../src/dev/contracts.generated.js'
import { deriveDevAccount } from '../src/dev/dev-chain.js'

export const payer = deriveDevAccount(0).address.toLowerCase() as Address
export const receiver: Address = '0x00000000000000000000000000000000000000b2'
const noMemo: Hex = `0x${'00'.repeat(32)}`

/** A call of the development router that pays the receiver, by default in native coins. */
export function payData(amount: bigint, given: { token?: string; memo?: Hex; integration?: string } = {}): Hex {
  const { token = nativeTokenAddress, memo = noMemo, integration } = given
  const args = [memo, amount, token as Address, receiver] as const
  const call = encodeFunctionData({ abi: devRouter.abi, functionName: 'pay', args })
  return integration === undefined ? call : concat([call, encodeIntegrationSuffix(integration)])
}

interface Contract {
  readonly abi: Abi
  readonly bytecode: Hex
}

type Header = Readonly<Record<'hash' | 'parentHash' | 'timestamp' | 'logsBloom', string>>

interface Sent {
  readonly to?: string
  readonly data?: string
  readonly value?: bigint
  readonly from?: string
}

/** A chain that stops after the tests of the file. */
export async function useTestChain(...args: Parameters<typeof startTestChain>) {
  const node = await startTestChain(...args)
  afterAll(() => node.stop())
  return node
}

export async function startTestChain(args: readonly string[] = [], chainId = 31_337) {
  const options = ['--no-mining', '--timestamp', '1700000000', ...args]
  const anvil = await startAnvil({ chainId, args: options, startTimeoutMs: 600_000 })

  async function rpc<T>(method: string, ...params: unknown[]): Promise<T> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(anvil.rpcUrl, { method: 'POST', headers, body })
    const answer = (await response.json()) as { result: T; error?: { message: string } }
    if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`)
    return answer.result
  }
  /** The header of a block, by default the newest. */
  const block = (height?: number) =>
    rpc<Header>('eth_getBlockByNumber', height === undefined ? 'latest' : `0x${height.toString(16)}`, false)
  /** Mines `count` blocks; resolves the new height. */
  async function mine(count = 1): Promise<number> {
    for (let index = 0; index < count; index++) await rpc('evm_mine')
    return Number(await rpc<string>('eth_blockNumber'))
  }
  /** Sends without mining. */
  function send({ value = 0n, from = payer, ...rest }: Sent): Promise<Hex> {
    return rpc('eth_sendTransaction', { from, gas: '0x4c4b40', value: `0x${value.toString(16)}`, ...rest })
  }
  async function receipt(hash: Hex) {
    type Receipt = { blockNumber: string; blockHash: string; contractAddress: Address }
    const receipt = await rpc<Receipt | null>('eth_getTransactionReceipt', hash)
    if (receipt === null) throw new Error(`${hash} is not mined`)
    return receipt
  }
  /** Sends and mines one block. */
  async function execute(transaction: Sent) {
    const hash = await send(transaction)
    await mine()
    const { blockNumber, blockHash } = await receipt(hash)
    return { hash, blockNumber: Number(blockNumber), blockHash }
  }
  async function deploy({ abi, bytecode }: Contract, deployArgs: readonly unknown[] = []) {
    const { hash } = await execute({ data: encodeDeployData({ abi, bytecode, args: [...deployArgs] }) })
    return (await receipt(hash)).contractAddress.toLowerCase() as Address
  }
  const call = ({ abi }: Contract, to: string, functionName: string, callArgs: readonly unknown[]) =>
    execute({ to, data: encodeFunctionData({ abi, functionName, args: [...callArgs] }) })
  return {
    ...anvil,
    rpc,
    block,
    mine,
    send,
    execute,
    deploy,
    call,
    /** Deploys a token, gives the owners plenty of it, and lets a contract move what the payer has. */
    async fund(symbol: string, decimals: number, spender: Address, owners: readonly Address[] = [payer]) {
      const token = await deploy(devToken, [symbol, decimals])
      for (const owner of owners) await call(devToken, token, 'mint', [owner, 10n ** 20n])
      await call(devToken, token, 'approve', [spender, 10n ** 20n])
      return token
    },
  }
}
