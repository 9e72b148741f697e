/** A service whose answers a test chooses, with one integration and one legacy API key that may call it. */
import { createHmac } from 'node:crypto'
import type { AppDeps } from '../../src/app/create-app.js'

export const integrationAddress = `0x${'ab'.repeat(20)}`
export const apiSecret = 'a-secret-of-the-tests'
export const goodAuthorization = basic(integrationAddress, apiSecret)
export const legacyKey = 'a-legacy-key-of-the-tests'
export const txHash = `0x${'12'.repeat(32)}`
export const wallet = `0x${'cd'.repeat(20)}`

export function basic(address: string, secret: string): string {
  return `Basic ${Buffer.from(`${address}:${secret}`).toString('base64')}`
}

/** Header of a processor's signature, as docs/interface.md 6 describes it. */
export function signBody(body: string | Uint8Array, secret: string, at = Math.floor(Date.now() / 1_000)): string {
  return `t=${at},v1=${createHmac('sha256', secret).update(`${at}.`).update(body).digest('hex')}`
}

export type ServiceSurface = AppDeps['service']

/** `calls` lists the calls of use cases, so that a test can assert that there were none. */
export function chosenService(overrides: Partial<ServiceSurface> = {}): ServiceSurface & { calls: string[] } {
  const calls: string[] = []
  return {
    calls,
    authenticate: async (authorization) => (authorization === goodAuthorization ? { integrationAddress } : null),
    queries: {
      forIntegration: () => ({
        async listPayments(query) {
          calls.push(`list ${JSON.stringify(query)}`)
          return { payments: [], nextCursor: null }
        },
        async getPayment(query) {
          calls.push(`get ${JSON.stringify(query)}`)
          throw new Error('not chosen by this test')
        },
      }),
    },
    authenticateLegacy: async (authorization) =>
      authorization === legacyKey || authorization === `Bearer ${legacyKey}` ? { keyId: 'lk_tests' } : null,
    legacy: {
      async lookup(query) {
        calls.push(`lookup ${JSON.stringify(query)}`)
        return { chainId: 1, txHash, payments: [] }
      },
      async verify(request) {
        calls.push(`verify ${JSON.stringify(request)}`)
        return { verified: true, result: { chainId: 1, txHash, payments: [] } }
      },
    },
    identity: null,
    async applyUpdate(update) {
      calls.push(`update ${update.id}`)
      return { id: update.id, outcome: 'applied', version: 2, reason: null }
    },
    async applyUpdates(updates) {
      calls.push(`updates ${updates.map(({ id }) => id).join(' ')}`)
      const applied = { outcome: 'applied', version: 2, reason: null } as const
      return updates.map(({ id }) => ({ status: 'fulfilled', value: { id, ...applied } }))
    },
    ...overrides,
  }
}

/** A service whose reads of payments are replaced by the given ones. */
export function withReads<T extends ServiceSurface>(
  service: T,
  reads: Partial<ReturnType<ServiceSurface['queries']['forIntegration']>>,
): T {
  const forIntegration = (address: string) => ({ ...service.queries.forIntegration(address), ...reads })
  return { ...service, queries: { forIntegration } }
}

/** A service whose lists of payments wait until `release` is called; `asked` counts them. */
export function heldReads<T extends ServiceSurface>(service: T) {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  let asked = 0
  async function listPayments() {
    asked += 1
    await held
    return { payments: [], nextCursor: null }
  }
  return { service: withReads(service, { listPayments }), release: () => release(), asked: () => asked }
}
