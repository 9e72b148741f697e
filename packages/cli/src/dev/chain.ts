/** Runs the demo's chain: anvil with the development router, and a payer. @module */
import { createPayer, deployDevRouter, deriveDevAccount, startAnvil } from '@payment-integration/chain-evm/dev'

interface DemoPayment {
  readonly integrationAddress: string
  /** In hundredths of the token. */
  readonly settlementCents: number
  readonly memo: string
}

export type DemoChain = Awaited<ReturnType<typeof startDemoChain>>

const merchantIndex = 2

/**
 * Starts anvil and deploys the router.
 * @param signal - Aborts the start only. Call `stop` to end a running chain, after the parts that read the chain.
 * @throws DevChainError `ERR_ANVIL_MISSING`, `ERR_ANVIL_EXIT`; the signal's reason.
 */
export async function startDemoChain(signal: AbortSignal) {
  let lose: (reason: string) => void = () => {}
  const exitReason = new Promise<string>((resolve) => {
    lose = resolve
  })
  const anvil = await abortable(signal, (starting) =>
    startAnvil({ signal: starting, onExit: (error) => lose(error.message) }),
  )
  try {
    const deployment = await abortable(signal, (starting) =>
      Promise.race([deployDevRouter(anvil), rejection(starting)]),
    )
    const payer = createPayer({ ...anvil, deployment })
    const receiver = deriveDevAccount(merchantIndex).address
    const { router, tokens } = deployment
    const { address, symbol, decimals } = tokens.usdc
    const unit = 10n ** BigInt(decimals - 2)
    return {
      rpcUrl: anvil.rpcUrl,
      chainId: anvil.chainId,
      router: router.address,
      routerVersion: router.version,
      token: { address, symbol, currency: 'USD' },
      merchant: receiver.toLowerCase(),
      lost: exitReason,
      pay: ({ integrationAddress, settlementCents, memo }: DemoPayment) =>
        payer.pay({ integrationAddress, receiver, memo, amount: BigInt(settlementCents) * unit }),
      stop: anvil.stop,
    }
  } catch (error) {
    await anvil.stop()
    throw error
  }
}

/** Runs a step with a separate signal, which follows `signal` only until the step ends. */
async function abortable<T>(signal: AbortSignal, step: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const ownStop = new AbortController()
  const follow = () => ownStop.abort(signal.reason)
  signal.addEventListener('abort', follow)
  if (signal.aborted) follow()
  try {
    return await step(ownStop.signal)
  } finally {
    signal.removeEventListener('abort', follow)
  }
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
    if (signal.aborted) reject(signal.reason)
  })
}
