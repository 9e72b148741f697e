/** A real chain with payments in some blocks, behind a server that can lie. @module */
import { type Address, encodeFunctionData, type Hex } from 'viem'
import type { EvmChainOptions } from '../src/evm-chain.js'
import { createEvmChain } from '../src/evm-chain.js'
import { testRouter } from './contracts.generated.js'
import { useFront } from './front.js'
import { payer, receiver, useTestChain } from './test-chain.js'

/** A call of the test router that emits `count` payments, by default in a token without code. */
export function pays(count: number, token: Address = receiver): Hex {
  const args = [BigInt(count), receiver, token, 5n, false] as const
  return encodeFunctionData({ abi: testRouter.abi, functionName: 'emitMany', args })
}

/** Starts a node with two test routers, which stops after the tests of the file. */
export async function openProofChain() {
  const node = await useTestChain(['--gas-limit', '1000000000'])
  const front = await useFront(node.rpcUrl)
  const other = await useFront(node.rpcUrl)
  const router = await node.deploy(testRouter)
  const second = await node.deploy(testRouter)
  const routers = [
    { address: router, version: '0.7' },
    { address: second, version: '0.7' },
  ]
  return {
    node,
    front,
    /** A second proxy of the node, which passes every answer unchanged. */
    other,
    router,
    second,
    open: (options: Partial<EvmChainOptions> = {}) =>
      createEvmChain({
        chainId: 31337,
        ...(options.nodes === undefined ? { rpcUrl: front.url } : {}),
        routers,
        requestTimeoutMs: 600_000,
        ...options,
      }),
    /** Mines a block with one transaction per count of payments. */
    async block(...payments: number[]): Promise<number> {
      for (const count of payments) await node.send({ to: router, data: pays(count) })
      return node.mine()
    },
    /** Mines a block with a payment in the token. */
    payIn: async (token: Address) => (await node.execute({ to: router, data: pays(1, token) })).blockNumber,
    /** Mines a block with a transaction without payments. */
    strange: async () => (await node.execute({ to: payer, value: 1n })).blockNumber,
    ...{ during: front.during, lie: front.lie },
  }
}

export type ProofChain = Awaited<ReturnType<typeof openProofChain>>
