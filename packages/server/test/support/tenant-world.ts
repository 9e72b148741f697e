/** A whole service with one tenant or two, which commands act on. */
import { systemClock } from '@payment-integration/core'
import type { MinedPayment } from './clause-chain.js'
import { type Shop, startClauses } from './clause-service.js'
import { basic } from './integration-service.js'
import { exchange } from './raw-exchange.js'
import { type Credentials, pools, type Tenant, type Transaction } from './tenant-commands.js'

/** An answer as its caller can see it: everything but the date. */
export interface Seen {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
}

// A server closes a connection after 1000 requests.
const requestsPerConnection = 900
const masterKey = 'a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90'
const addresses: Readonly<Record<Tenant, string>> = { A: `0x${'b2'.repeat(20)}`, B: `0x${'a1'.repeat(20)}` }

export const makeTxHash = (hash: number) => `0x${(hash + 1).toString(16).padStart(64, '0')}`
export const getWallet = (wallet: number) => `0x${(wallet + 1).toString(16).padStart(40, 'c')}`
export const getAddress = (tenant: Tenant) => addresses[tenant]

/** Opens a world. The clock is shared with the world that it is compared with. */
export async function openTenantWorld(tenants: readonly Tenant[], clock: { now(): number }) {
  const clauses = await startClauses({ chainIds: pools.chains, masterKey, clock: { ...systemClock, ...clock } })
  const shops = new Map<Tenant, Shop>()
  for (const tenant of tenants) shops.set(tenant, await clauses.createShop(addresses[tenant]))
  const issued = (secret: string) => ({ newest: secret, previous: secret })
  const secrets = new Map([...shops].map(([tenant, { apiSecret }]) => [tenant, issued(apiSecret)]))
  let connection = await exchange(clauses.url)
  let requestCount = 0
  const getChain = (chain: number) => clauses.chain(pools.chains[chain])

  /** Payments visible in this world: those of its tenants, and those without an integration. */
  function mined({ hash, payments }: Transaction): MinedPayment[] {
    return payments.flatMap(({ of, sender, receiver }, ordinal) => {
      if (of !== null && !shops.has(of)) return []
      const integrationAddress = of === null ? null : addresses[of]
      const sides = { sender: getWallet(sender), receiver: getWallet(receiver) }
      return [{ txHash: makeTxHash(hash), ordinal, integrationAddress, ...sides }]
    })
  }

  return {
    has: (tenant: Tenant) => shops.has(tenant),
    secret: (tenant: Tenant, which: Exclude<Credentials, 'other'>) => secrets.get(tenant)?.[which] ?? 'never-issued',
    async mine(chain: number, transactions: readonly Transaction[], timestamp: number) {
      getChain(chain).mine(transactions.flatMap(mined), timestamp)
    },
    drop: (chain: number, count: number) => getChain(chain).drop(count),
    index: () => clauses.index(),
    update: clauses.update,
    async rotate(tenant: Tenant, graceMs: number) {
      const { newest } = secrets.get(tenant) ?? { newest: '' }
      const { apiSecret } = await clauses.service.integrations.rotateApiSecret(addresses[tenant], { graceMs })
      secrets.set(tenant, { newest: apiSecret, previous: newest })
    },
    enable: (tenant: Tenant, enabled: boolean) => clauses.service.integrations.setEnabled(addresses[tenant], enabled),
    /** GETs a path below the integration API. */
    async ask(path: string, tenant: Tenant, secret: string): Promise<Seen> {
      if (++requestCount % requestsPerConnection === 0) {
        connection.destroy()
        connection = await exchange(clauses.url)
      }
      const authorization = basic(addresses[tenant], secret)
      connection.send(`GET /api/v1/integration/${path} HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n\r\n`)
      const [answer] = await connection.answers(1)
      if (answer === undefined) throw new Error('The server closed the connection.')
      const { status, headers, body } = answer
      return { status, headers: [...headers].filter(([name]) => !['date', 'x-request-id'].includes(name)), body }
    },
    async close() {
      connection.destroy()
      await clauses.stop()
    },
  }
}

export type TenantWorld = Awaited<ReturnType<typeof openTenantWorld>>
