/** Creates and settles deliveries in the database of a test, by the store itself. */
import type { AttemptDecision } from '@payment-integration/core/internal'
import { openService, readConfig } from '@payment-integration/server/service'
import { facts, indexPayments } from '../../server/test/support/index-payments.js'

/** Number of calls, which makes transaction hashes unique. */
let fills = 0

/** The payments and deliveries to create. */
export interface Filled {
  readonly integrationAddress: string
  /** Number of payments, each with one delivery. */
  readonly payments: number
  readonly chainId?: number
  /** The only attempt and its verdict; without them the deliveries are pending and unattempted. */
  readonly answer?: { readonly status: number | null; readonly reason: string | null; readonly excerpt?: string | null }
  readonly verdict?: AttemptDecision
  /** How long the endpoint is blocked. */
  readonly blockMs?: number
}

/** Opens the database of `env`, runs `work` on its service, and closes it. */
export async function onService<T>(
  env: Record<string, string>,
  work: (service: Awaited<ReturnType<typeof openService>>['service']) => Promise<T>,
): Promise<T> {
  const { service, close } = await openService(readConfig({ PI_LOG_LEVEL: 'silent', ...env }))
  try {
    return await work(service)
  } finally {
    await close()
  }
}

/**
 * Stores payments with a delivery each and settles them. The integration must be there, enabled and with a URL.
 * @returns Their transaction hashes.
 */
export function fillDeliveries(env: Record<string, string>, filled: Filled): Promise<string[]> {
  const { integrationAddress, payments, chainId = 1, answer, verdict, blockMs } = filled
  return onService(env, async ({ store }) => {
    fills += 1
    const prefix = `0x${String(fills).padStart(8, '0')}`
    const hashes = Array.from({ length: payments }, (_, index) => `${prefix}${String(index).padStart(56, '0')}`)
    const all = hashes.map((txHash) => facts({ chainId, txHash, integrationAddress }))
    await indexPayments(store, all)
    if (answer === undefined || verdict === undefined) return hashes
    let remaining = payments
    while (remaining > 0) {
      const claims = await store.deliveries.claim({ limit: 500, leaseMs: 60_000 })
      if (claims.length === 0) throw new Error(`${remaining} deliveries cannot be claimed`)
      const attempt = { startedAt: Date.now(), latencyMs: 25, excerpt: null, ...answer }
      await store.deliveries.settle(
        claims.map((claim) => ({ claim, attempt: { ...attempt, replay: claim.replay }, verdict })),
        ({ failures, blocks }, results) =>
          blockMs === undefined
            ? { failures, blocks, blockMs: null }
            : { failures: failures + results.length, blocks: blocks + 1, blockMs },
      )
      remaining -= claims.length
    }
    return hashes
  })
}
