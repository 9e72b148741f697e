/** A real chain that mines and reorganises on demand, and its payers. @module */
import { deployDevRouter, startAnvil } from '@payment-integration/chain-evm/dev'
import { encodeFunctionData, type Hex, keccak256, parseAbi, toHex } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { dataSuffix } from '../chain/suffix.js'
import { cast } from '../chain/transaction.js'
import type { Draws } from '../random.js'

/** A signed payment that may be mined in any block, and again after a reorg. */
export interface SignedPayment {
  readonly raw: Hex
  readonly hash: Hex
  readonly from: Hex
  readonly integration: Hex | null
}

/** The chain. */
export interface AnvilChain {
  readonly rpcUrl: string
  readonly chainId: number
  readonly router: { readonly address: Hex; readonly version: string }
  rpc<T>(method: string, ...params: readonly unknown[]): Promise<T>
  /** Reverts everything since the router was deployed. Resolves the height. */
  reset(): Promise<number>
  /** Signs a payment of an account that has not paid since the last reset. */
  sign(draws: Draws): Promise<SignedPayment>
  stop(): Promise<void>
}

const routerAbi = parseAbi(['function pay(bytes32 memo, uint256 amount, address token, address receiver) payable'])
/** Payers; each pays once per seed, so that no payment waits for another one's nonce. */
const payers = 80
const funds = toHex(10n ** 21n)
const gas = 200_000n
const gasPrice = 10_000_000_000n
/** Optimism: a chain whose headers are known to be of the usual kind. */
const usualChain = 10
/** Unix time of the first block, in seconds. */
const genesis = '1700000000'

/** Starts anvil, deploys the router and funds the payers. */
export async function startAnvilChain(): Promise<AnvilChain> {
  const anvil = await startAnvil({ chainId: usualChain, args: ['--no-mining', '--timestamp', genesis] })
  const { rpcUrl, chainId } = anvil

  async function rpc<T>(method: string, ...params: readonly unknown[]): Promise<T> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const response = await fetch(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const answer = (await response.json()) as { readonly result: T; readonly error?: { readonly message: string } }
    if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`)
    return answer.result
  }

  const deploying = deployDevRouter(anvil)
  let deployed = false
  const done = deploying.finally(() => {
    deployed = true
  })
  while (!deployed) {
    await rpc('evm_mine')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const { router } = await done
  const accounts: PrivateKeyAccount[] = []
  for (let index = 1; index <= payers; index += 1) {
    const account = privateKeyToAccount(toHex(index, { size: 32 }))
    accounts.push(account)
    await rpc('anvil_setBalance', account.address, funds)
  }
  await rpc('evm_mine')
  let snapshot = await rpc<string>('evm_snapshot')
  let used = 0

  return {
    rpcUrl,
    chainId,
    router,
    rpc,
    async reset() {
      await rpc('evm_revert', snapshot)
      snapshot = await rpc<string>('evm_snapshot')
      used = 0
      return Number(await rpc<string>('eth_blockNumber'))
    },
    async sign(draws) {
      const account = accounts[used]
      used += 1
      if (account === undefined) throw new Error('Every payer has paid already.')
      const amount = BigInt(draws.whole(10_000, 1_000_000_000))
      const memo = draws.pick<Hex>([`0x${'00'.repeat(32)}`, draws.hex(32), `0x${'ff'.repeat(32)}`])
      const call = encodeFunctionData({
        abi: routerAbi,
        functionName: 'pay',
        args: [memo, amount, cast.nativeToken, draws.pick(cast.people)],
      })
      const integration = draws.chance(0.8) ? draws.pick(cast.integrations) : null
      const data: Hex = integration === null ? call : `${call}${dataSuffix(integration).slice(2)}`
      // A payment of another amount reverts.
      const value = draws.chance(0.05) ? amount + 1n : amount
      const to = router.address
      const raw = await account.signTransaction({ type: 'legacy', chainId, nonce: 0, gas, gasPrice, to, data, value })
      return { raw, hash: keccak256(raw), from: account.address.toLowerCase() as Hex, integration }
    },
    stop: () => anvil.stop(),
  }
}
