/** A development chain: its accounts, its error, and its payment router and tokens. @module */

import { assertWhole } from '@payment-integration/core/internal'
import {
  type Account,
  type Address,
  createWalletClient,
  defineChain,
  encodeDeployData,
  getContractAddress,
  type Hex,
  http,
} from 'viem'
import { type HDAccount, mnemonicToAccount } from 'viem/accounts'
import { getTransactionCount, getTransactionReceipt, sendTransaction } from 'viem/actions'
import type { KnownRouter } from '../decode/known-routers.js'
import { createRedactor, describeFailure } from '../rpc/failures.js'
import { devRouter, devToken } from './contracts.generated.js'

/** The mnemonic of anvil's default accounts. Its keys are public: use them on development chains only. */
export const testMnemonic = 'test test test test test test test test test test test junk'

/**
 * A funded account of a chain started with `mnemonic`.
 * @param index - 0 to 9 hold 10,000 native tokens each. `deployDevRouter` uses 0 to deploy and 9 as treasury.
 */
export function devAccount(index: number, mnemonic: string = testMnemonic): HDAccount {
  return mnemonicToAccount(mnemonic, { addressIndex: index })
}

/** A development chain, such as `startAnvil` resolves. */
export interface DevChain {
  readonly rpcUrl: string
  readonly chainId: number
}

/** The chain as viem's wallet actions want it. */
export function toViemChain({ chainId, rpcUrl }: DevChain) {
  return defineChain({
    id: chainId,
    name: `Development chain ${chainId}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  })
}

/** Every code of a development chain; a `Chain` rejects with `ChainError` of the core. */
export type DevChainErrorCode = 'ERR_ANVIL_EXIT' | 'ERR_ANVIL_MISSING' | 'ERR_DEV_CHAIN'

/**
 * A development chain failed, by `code`. `ERR_ANVIL_MISSING`: this machine has no anvil, and the message says how to
 * get it. `ERR_ANVIL_EXIT`: anvil did not start, or ended by itself. `ERR_DEV_CHAIN`: the node rejected a transaction,
 * did not answer, or did not mine. The message holds no part of the node's URL.
 */
export class DevChainError extends Error {
  override readonly name = 'DevChainError'
  readonly code: DevChainErrorCode
  readonly retryable = false
  constructor(code: DevChainErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/**
 * Waits for a step on a chain. When the signal aborts, the wait ends at once; the step itself may still come through.
 * @param what - The failed step as a clause, such as `did not take the payment`.
 * @throws {@link DevChainError} `ERR_DEV_CHAIN` when the step fails; the signal's reason when it aborts first.
 */
export async function onDevChain<T>(
  { chainId, rpcUrl }: DevChain,
  what: string,
  step: Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  return raceAbort(
    signal,
    step.catch((error: unknown) => {
      throw new DevChainError(
        'ERR_DEV_CHAIN',
        `Chain ${chainId} ${what}: ${describeFailure(error, createRedactor(rpcUrl))}.`,
      )
    }),
  )
}

/** Settles like `work`, or rejects with the signal's reason when that comes first. */
export async function raceAbort<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (signal === undefined) return work
  let give: () => void = () => {}
  const aborted = new Promise<never>((_, reject) => {
    give = () => reject(signal.reason)
  })
  signal.addEventListener('abort', give)
  if (signal.aborted) give()
  try {
    return await Promise.race([aborted, work])
  } finally {
    signal.removeEventListener('abort', give)
  }
}

/** A token of the development chain; anybody may mint it. */
interface DevTokenInfo {
  readonly address: Address
  readonly symbol: string
  readonly decimals: number
}

/** The router and tokens of a development chain. Addresses are lowercased. */
export interface DevDeployment {
  /** For the `routers` option of `createEvmChain`: it emits the events of version 0.8. */
  readonly router: KnownRouter & { readonly address: Address }
  readonly tokens: { readonly usdc: DevTokenInfo; readonly dai: DevTokenInfo }
  /** Receives the fees. */
  readonly treasury: Address
}

/** Options of {@link deployDevRouter}. */
interface DeployOptions {
  /** Pays for the deployment. @default account 0 of the test mnemonic */
  readonly account?: Account | undefined
  /** How long to wait for the contracts to be mined, in milliseconds. @default 30_000 */
  readonly timeoutMs?: number | undefined
  /** Ends the wait when it aborts; what was sent until then may still be mined. */
  readonly signal?: AbortSignal | undefined
}

/** Defaults of {@link deployDevRouter}. */
const deployDefaults = { timeoutMs: 30_000 } as const

/**
 * Deploys `DevRouter`, USDC (6 decimals) and DAI (18 decimals), and resolves when all three are mined. A fresh chain
 * always has the same addresses. A chain that mines on demand must mine meanwhile.
 * @throws {@link DevChainError} `ERR_DEV_CHAIN` when a deployment is rejected, reverted or not mined in time; the
 * signal's reason when it aborts.
 * @throws {RangeError} When `timeoutMs` is not a whole number of at least 1.
 */
export async function deployDevRouter(chain: DevChain, options: DeployOptions = {}): Promise<DevDeployment> {
  const { account = devAccount(0), timeoutMs = deployDefaults.timeoutMs, signal } = options
  assertWhole('timeoutMs', timeoutMs, 1)
  signal?.throwIfAborted()
  const client = createWalletClient({ account, chain: toViemChain(chain), transport: http(chain.rpcUrl) })
  const treasury = devAccount(9).address.toLowerCase() as Address
  const { address } = account
  const count = getTransactionCount(client, { address, blockTag: 'pending' })
  const first = await onDevChain(chain, 'did not tell the next nonce', count, signal)
  const creations = [
    encodeDeployData({ ...devRouter, args: [treasury] }),
    encodeDeployData({ ...devToken, args: ['USDC', 6] }),
    encodeDeployData({ ...devToken, args: ['DAI', 18] }),
  ]
  const hashes: Hex[] = []
  for (const [offset, data] of creations.entries()) {
    const sent = sendTransaction(client, { data, nonce: first + offset, gas: 3_000_000n })
    hashes.push(await onDevChain(chain, 'did not take a deployment', sent, signal))
  }
  const deadline = Date.now() + timeoutMs
  for (const hash of hashes) await waitUntilMined(chain, client, hash, deadline, signal)
  const addressAt = (offset: number) =>
    getContractAddress({ from: account.address, nonce: BigInt(first + offset) }).toLowerCase() as Address
  return {
    router: { address: addressAt(0), version: '0.8' },
    tokens: {
      usdc: { address: addressAt(1), symbol: 'USDC', decimals: 6 },
      dai: { address: addressAt(2), symbol: 'DAI', decimals: 18 },
    },
    treasury,
  }
}

async function waitUntilMined(
  { chainId }: DevChain,
  client: Parameters<typeof getTransactionReceipt>[0],
  hash: Hex,
  deadline: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (;;) {
    const receiptRequest = getTransactionReceipt(client, { hash }).catch(() => null)
    const receipt = await raceAbort(signal, receiptRequest)
    if (receipt?.status === 'success') return
    if (receipt !== null) throw new DevChainError('ERR_DEV_CHAIN', `Chain ${chainId} reverted deployment ${hash}.`)
    if (Date.now() > deadline)
      throw new DevChainError(
        'ERR_DEV_CHAIN',
        `Chain ${chainId} did not mine deployment ${hash} in time; does the chain mine blocks?`,
      )
    await raceAbort(signal, new Promise((resolve) => setTimeout(resolve, 20)))
  }
}
