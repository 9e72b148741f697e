/** Pays through the development router with a viem wallet. @module */
import type { Account, Address, Hex } from 'viem'
import { createWalletClient, encodeFunctionData, http, isHex, maxUint256, stringToHex } from 'viem'
import { getTransactionCount, sendTransaction } from 'viem/actions'
import { encodeIntegrationSuffix } from '../decode/integrations.js'
import { nativeTokenAddress } from '../decode/router-decoder.js'
import { raceAbort } from '../rpc/failures.js'
import { parseAddress } from '../rpc/hex.js'
import { devRouter, devToken } from './contracts.generated.js'
import type { DevDeployment } from './dev-chain.js'
import { awaitChainStep, type DevChain, deriveDevAccount, toViemChain } from './dev-chain.js'

export interface PayerOptions extends DevChain {
  /** The result of `deployDevRouter`. */
  readonly deployment: DevDeployment
  /** The paying account, which only one payer may use at a time. @default account 1 of the test mnemonic */
  readonly account?: Account | undefined
}

export interface DevPayment {
  /** The integration in the calldata suffix; null for no suffix. */
  readonly integrationAddress: string | null
  readonly receiver: string
  /** Gross amount in base units of the token, above 0. */
  readonly amount: bigint
  /** Text of at most 32 bytes of UTF-8, or 32 bytes as 0x hex. An empty memo is free of fees. */
  readonly memo: string
  /** Token address; the native token is `0xeeee…eeee`. @default USDC of the deployment */
  readonly token?: string | undefined
}

/** Pays from one account. */
export interface Payer {
  /** Lowercased. */
  readonly address: Address
  /**
   * Sends a payment; payments are sent in the order of the calls. Mints and approves tokens first where needed.
   * Resolves with the transaction hash when the node has accepted the payment.
   * @param signal - Ends the wait; a payment that is still queued is not sent.
   * @throws {TypeError | RangeError} When a field is wrong, before anything is sent.
   * @throws {@link DevChainError} `ERR_DEV_CHAIN` when the node rejects the transaction or does not answer; the
   * signal's reason when it aborts first.
   */
  pay(payment: DevPayment, signal?: AbortSignal): Promise<Hex>
}

/** A fixed gas limit, because a node cannot estimate the gas of a payment before its approval is mined. */
const gas = 300_000n

/**
 * Creates a payer, which sends test payments. `pay` rejects with {@link DevChainError} `ERR_DEV_CHAIN`.
 * @example
 * import { createPayer, deployDevRouter, deriveDevAccount, startAnvil } from '@payment-integration/chain-evm/dev'
 * const chain = await startAnvil()
 * const { pay } = createPayer({ ...chain, deployment: await deployDevRouter(chain), account: deriveDevAccount(2) })
 * await pay({ integrationAddress: null, receiver: deriveDevAccount(3).address, amount: 1_000_000n, memo: '' })
 */
export function createPayer(options: PayerOptions): Payer {
  const { deployment, account = deriveDevAccount(1) } = options
  const client = createWalletClient({ account, chain: toViemChain(options), transport: http(options.rpcUrl) })
  /** Tokens that are minted and approved. */
  const preparedTokens = new Set<string>()
  let nonce: number | null = null
  let queue: Promise<unknown> = Promise.resolve()

  async function send(to: string, data: Hex, value = 0n, suffix?: Hex): Promise<Hex> {
    nonce ??= await getTransactionCount(client, { address: account.address, blockTag: 'pending' })
    const dataSuffix = suffix === undefined ? {} : { dataSuffix: suffix }
    try {
      const hash = await sendTransaction(client, { to: to as Address, data, value, gas, nonce, ...dataSuffix })
      nonce += 1
      return hash
    } catch (error) {
      nonce = null
      throw error
    }
  }

  async function prepare(token: string): Promise<void> {
    if (token === nativeTokenAddress || preparedTokens.has(token)) return
    const { abi } = devToken
    await send(token, encodeFunctionData({ abi, functionName: 'mint', args: [account.address, maxUint256 >> 32n] }))
    const approvalArgs = [deployment.router.address, maxUint256] as const
    await send(token, encodeFunctionData({ abi, functionName: 'approve', args: approvalArgs }))
    preparedTokens.add(token)
  }

  return {
    address: account.address.toLowerCase() as Address,
    async pay({ integrationAddress, receiver, amount, memo, token = deployment.tokens.usdc.address }, signal) {
      const tokenAddress = parseAddress('token', token)
      if (amount <= 0n) throw new RangeError(`amount is ${amount}; pass base units above 0.`)
      const args = [encodeMemo(memo), amount, tokenAddress, parseAddress('receiver', receiver)] as const
      const data = encodeFunctionData({ abi: devRouter.abi, functionName: 'pay', args })
      const suffix = integrationAddress === null ? undefined : encodeIntegrationSuffix(integrationAddress)
      const value = tokenAddress === nativeTokenAddress ? amount : 0n
      const sendPayment = async () => {
        await prepare(tokenAddress)
        return send(deployment.router.address, data, value, suffix)
      }
      const sent = queue.then(() => {
        signal?.throwIfAborted()
        return awaitChainStep(options, 'did not accept a payment', sendPayment())
      })
      // An aborted wait must not let the next payment overtake this one: nonces have an order.
      queue = sent.catch(() => {})
      return raceAbort(sent, signal)
    },
  }
}

function encodeMemo(memo: string): Hex {
  if (isHex(memo) && memo.length === 66) return memo
  if (new TextEncoder().encode(memo).length > 32)
    throw new RangeError('memo is longer than 32 bytes of UTF-8; shorten it.')
  return stringToHex(memo, { size: 32 })
}
