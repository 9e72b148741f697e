/** Pays through the development router, with an ordinary viem wallet. @module */
import {
  type Account,
  type Address,
  createWalletClient,
  encodeFunctionData,
  type Hex,
  http,
  isHex,
  maxUint256,
  stringToHex,
} from 'viem'
import { getTransactionCount, sendTransaction } from 'viem/actions'
import { encodeIntegrationSuffix } from '../decode/integrations.js'
import { nativeTokenAddress } from '../decode/router-decoder.js'
import { devRouter, devToken } from './contracts.generated.js'
import type { DevDeployment } from './dev-chain.js'
import { type DevChain, devAccount, onDevChain, raceAbort, toViemChain } from './dev-chain.js'

/** Options of {@link createPayer}. */
export interface PayerOptions extends DevChain {
  /** The result of `deployDevRouter`. */
  readonly deployment: DevDeployment
  /** Who pays. Only one payer may use an account at a time. @default account 1 of the test mnemonic */
  readonly account?: Account | undefined
}

/** A payment to make. */
export interface DevPayment {
  /** Whom the payment names; null names nobody. */
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
  /** The payer, lowercased. */
  readonly address: Address
  /**
   * Sends a payment; mints and approves tokens as needed. Resolves its hash when the node has accepted it; the next
   * block mines it. Calls are sent in order.
   * @param signal - Ends the wait when it aborts. A queued payment is then not sent at all.
   * @throws {TypeError | RangeError} When a field is wrong; nothing is sent.
   * @throws {@link DevChainError} `ERR_DEV_CHAIN` when the node rejects the transaction or does not answer; the
   * signal's reason when it aborts first.
   */
  pay(payment: DevPayment, signal?: AbortSignal): Promise<Hex>
}

/** Gas is given, because a node cannot estimate a payment whose approval is not mined yet. */
const gas = 300_000n

/** Makes a payer. Nothing is sent yet. */
export function createPayer(options: PayerOptions): Payer {
  const { deployment, account = devAccount(1) } = options
  const client = createWalletClient({ account, chain: toViemChain(options), transport: http(options.rpcUrl) })
  const ready = new Set<string>()
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
    if (token === nativeTokenAddress || ready.has(token)) return
    const { abi } = devToken
    await send(token, encodeFunctionData({ abi, functionName: 'mint', args: [account.address, maxUint256 >> 32n] }))
    await send(
      token,
      encodeFunctionData({ abi, functionName: 'approve', args: [deployment.router.address, maxUint256] }),
    )
    ready.add(token)
  }

  async function sendPayment(token: Address, data: Hex, value: bigint, suffix: Hex | undefined): Promise<Hex> {
    await prepare(token)
    return send(deployment.router.address, data, value, suffix)
  }

  return {
    address: account.address.toLowerCase() as Address,
    async pay({ integrationAddress, receiver, amount, memo, token = deployment.tokens.usdc.address }, signal) {
      const paid = checkAddress('token', token)
      if (amount <= 0n) throw new RangeError(`amount is ${amount}; pass base units above 0.`)
      const args = [encodeMemo(memo), amount, paid, checkAddress('receiver', receiver)] as const
      const data = encodeFunctionData({ abi: devRouter.abi, functionName: 'pay', args })
      const suffix = integrationAddress === null ? undefined : encodeIntegrationSuffix(integrationAddress)
      const value = paid === nativeTokenAddress ? amount : 0n
      const sent = queue.then(() => {
        signal?.throwIfAborted()
        return onDevChain(options, 'did not take a payment', sendPayment(paid, data, value, suffix))
      })
      // The next payment waits for the node, not for the caller, so that nonces stay in order.
      queue = sent.catch(() => {})
      return raceAbort(signal, sent)
    },
  }
}

function checkAddress(name: string, address: string): Address {
  if (!/^0x[0-9a-fA-F]{40}$/.test(address))
    throw new TypeError(`${name} is ${JSON.stringify(address)}; pass 0x and 40 hex digits.`)
  return address.toLowerCase() as Address
}

function encodeMemo(memo: string): Hex {
  if (isHex(memo) && memo.length === 66) return memo
  if (new TextEncoder().encode(memo).length > 32)
    throw new RangeError('memo is longer than 32 bytes of UTF-8; shorten it.')
  return stringToHex(memo, { size: 32 })
}
