/** Runs the demo's chain: anvil with the development router, and a payer. @module */
import { createPayer, deployDevRouter, deriveDevAccount, startAnvil } from '@payment-integration/chain-evm/dev'
import { aborted } from '../process.js'

export type DemoChain = Awaited<ReturnType<typeof startDemoChain>>

const merchantIndex = 2

/** Starts anvil and deploys a router. @param signal - Aborts the start only. Stop the chain's readers before `stop`. */
export async function startDemoChain(signal: AbortSignal) {
  let setReason: (reason: string) => void = () => {}
  const exitReason = new Promise<string>((resolve) => {
    setReason = resolve
  })
  // Anvil stops when its own signal aborts; that signal follows `signal` only during the start.
  const starting = new AbortController()
  const abortStart = () => starting.abort(signal.reason)
  signal.addEventListener('abort', abortStart)
  if (signal.aborted) abortStart()
  const anvil = await startAnvil({ signal: starting.signal, onExit: (error) => setReason(error.message) }).finally(() =>
    signal.removeEventListener('abort', abortStart),
  )
  try {
    const interrupted = aborted(signal).then((): never => {
      throw signal.reason
    })
    const deployment = await Promise.race([deployDevRouter(anvil), interrupted])
    const payer = createPayer({ ...anvil, deployment })
    const merchant = deriveDevAccount(merchantIndex).address
    const { router, tokens } = deployment
    const { address, symbol, decimals } = tokens.usdc
    const unitsPerCent = 10n ** BigInt(decimals - 2)
    return {
      rpcUrl: anvil.rpcUrl,
      chainId: anvil.chainId,
      router: router.address,
      routerVersion: router.version,
      token: { address, symbol, currency: 'USD' },
      merchant: merchant.toLowerCase(),
      exitReason,
      /** `settlementCents`: hundredths of the token. */
      pay(payment: { integrationAddress: string; settlementCents: number; memo: string }) {
        const { settlementCents, ...reference } = payment
        return payer.pay({ ...reference, receiver: merchant, amount: BigInt(settlementCents) * unitsPerCent })
      },
      stop: anvil.stop,
    }
  } catch (error) {
    await anvil.stop()
    throw error
  }
}
