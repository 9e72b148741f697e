/** The accounts, errors, router and tokens of a development chain. @module */
import { assertWhole } from '@payment-integration/core/internal'
import type { Account, Address, Hex } from 'viem'
import { createWalletClient, defineChain, encodeDeployData, getContractAddress, http } from 'viem'
import { type HDAccount, mnemonicToAccount } from 'viem/accounts'
import { getTransactionCount, getTransactionReceipt, sendTransaction } from 'viem/actions'
import type { KnownRouter } from '../decode/known-routers.js'
import { createRedactor, raceAbort, toRequestError } from '../rpc/failures.js'
import { devRouter, devToken } from './contracts.generated.js'

/** The mnemonic of anvil's default accounts. Its keys are public: for development chains only. */
export const testMnemonic = 'test test test test test test test test test test test junk'

/**
 * Returns a funded account of a chain started with `mnemonic`, as `account` of `createPayer`.
 * @param index - 0 to 9 hold 10,000 native tokens each. `deployDevRouter` uses 0 to deploy and 9 as treasury.
 * @param mnemonic - @default the test mnemonic of anvil
 */
export function deriveDevAccount(index: number, mnemonic: string = testMnemonic): HDAccount {
  return mnemonicToAccount(mnemonic, { addressIndex: index })
}

export interface DevChain {
  readonly rpcUrl: string
  readonly chainId: number
}

export function toViemChain({ chainId, rpcUrl }: DevChain) {
  return defineChain({
    id: chainId,
    name: `Development chain ${chainId}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  })
}

/** The codes of {@link DevChainError}. */
export type DevChainErrorCode = 'ERR_ANVIL_EXIT' | 'ERR_ANVIL_MISSING' | 'ERR_DEV_CHAIN'

/**
 * A development chain failed. `ERR_ANVIL_MISSING`: anvil is not installed; the message says how to install it.
 * `ERR_ANVIL_EXIT`: anvil did not start, or exited by itself. `ERR_DEV_CHAIN`: the node rejected a transaction, did not
 * answer, or did not mine it. The message contains no part of the node's URL.
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
 * Waits for a step on a chain. When the signal aborts, only the wait ends; the step may still succeed.
 * @param what - The predicate of the message, such as `did not accept the payment`.
 * @throws {@link DevChainError} `ERR_DEV_CHAIN` when the step fails; the signal's reason when it aborts first.
 */
export async function awaitChainStep<T>(
  { chainId, rpcUrl }: DevChain,
  what: string,
  step: Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const checked = step.catch((error: unknown) => {
    const { message } = toRequestError(error, createRedactor(rpcUrl))
    throw new DevChainError('ERR_DEV_CHAIN', `Chain ${chainId} ${what}: ${message}.`)
  })
  return raceAbort(checked, signal)
}

/** A token that anybody may mint. */
interface DevTokenInfo {
  readonly address: Address
  readonly symbol: string
  readonly decimals: number
}

/** The router and tokens of a development chain. Addresses are lowercased. */
export interface DevDeployment {
  /** For the `routers` option of `createEvmChain`. Emits the events of version 0.8. */
  readonly router: KnownRouter & { readonly address: Address }
  readonly tokens: { readonly usdc: DevTokenInfo; readonly dai: DevTokenInfo }
  /** Receives the fees. */
  readonly treasury: Address
}

interface DeployOptions {
  /** Pays for the deployment. @default account 0 of the test mnemonic */
  readonly account?: Account | undefined
  /** The longest wait for the contracts to be mined, in milliseconds. @default 30_000 */
  readonly timeoutMs?: number | undefined
  /** Ends the wait; sent transactions may still be mined. @default none */
  readonly signal?: AbortSignal | undefined
}

/**
 * Deploys `DevRouter`, USDC (6 decimals) and DAI (18 decimals), and resolves when all three are mined. Their addresses
 * are the same on every fresh chain.
 * @throws {@link DevChainError} `ERR_DEV_CHAIN` when a deployment is rejected, reverted or not mined in time; the
 * signal's reason when it aborts.
 * @throws {RangeError} When `timeoutMs` is not a whole number of at least 1.
 * @example
 * import { deployDevRouter } from '@payment-integration/chain-evm/dev'
 * const { router, tokens } = await deployDevRouter({ rpcUrl: 'http://127.0.0.1:8545', chainId: 31_337 })
 */
export async function deployDevRouter(chain: DevChain, options: DeployOptions = {}): Promise<DevDeployment> {
  const { account = deriveDevAccount(0), timeoutMs = 30_000, signal } = options
  assertWhole('timeoutMs', timeoutMs, 1)
  signal?.throwIfAborted()
  const client = createWalletClient({ account, chain: toViemChain(chain), transport: http(chain.rpcUrl) })
  const treasury = deriveDevAccount(9).address.toLowerCase() as Address
  const { address } = account
  const nonceRequest = getTransactionCount(client, { address, blockTag: 'pending' })
  const firstNonce = await awaitChainStep(chain, 'did not return the next nonce', nonceRequest, signal)
  const creations = [
    encodeDeployData({ ...devRouter, args: [treasury] }),
    encodeDeployData({ ...devToken, args: ['USDC', 6] }),
    encodeDeployData({ ...devToken, args: ['DAI', 18] }),
  ]
  const hashes: Hex[] = []
  for (const [offset, data] of creations.entries()) {
    const sent = sendTransaction(client, { data, nonce: firstNonce + offset, gas: 3_000_000n })
    hashes.push(await awaitChainStep(chain, 'did not accept a deployment', sent, signal))
  }
  const deadline = Date.now() + timeoutMs
  for (const hash of hashes) await waitUntilMined(chain, client, hash, deadline, signal)
  const addressAt = (offset: number) =>
    getContractAddress({ from: account.address, nonce: BigInt(firstNonce + offset) }).toLowerCase() as Address
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
    const receipt = await raceAbort(receiptRequest, signal)
    if (receipt?.status === 'success') return
    if (receipt !== null) throw new DevChainError('ERR_DEV_CHAIN', `Chain ${chainId} reverted deployment ${hash}.`)
    if (Date.now() > deadline)
      throw new DevChainError(
        'ERR_DEV_CHAIN',
        `Chain ${chainId} did not mine deployment ${hash} in time; does the chain mine blocks?`,
      )
    await raceAbort(new Promise((resolve) => setTimeout(resolve, 20)), signal)
  }
}
