/** The expected read API of a tenant, from that tenant's payments and credentials alone. */
import { pools, type Tenant, type Transaction } from './tenant-commands.js'

type Row = Readonly<Record<'chain' | 'hash' | 'sender' | 'receiver' | 'timestamp', number>>

interface Access {
  enabled: boolean
  /** Expiry of the previous secret. */
  graceEnds: number
}

export function tenantModel(clock: { now(): number }) {
  /** The blocks of each chain above its first one. */
  const chains = pools.chains.map(() => [] as { transactions: readonly Transaction[]; timestamp: number }[])
  const open = (): Access => ({ enabled: true, graceEnds: 0 })
  const access: Readonly<Record<Tenant, Access>> = { A: open(), B: open() }
  const everMined = new Set<string>()

  function getRows(tenant: Tenant): Row[] {
    return chains.flatMap((blocks, chain) =>
      blocks.flatMap(({ transactions, timestamp }) =>
        transactions.flatMap(({ hash, payments }) => {
          // Of several payments in one transaction the first is the integration's.
          const first = payments.find(({ of }) => of === tenant)
          return first === undefined ? [] : [{ chain, hash, timestamp, sender: first.sender, receiver: first.receiver }]
        }),
      ),
    )
  }
  const touches = (wallet: number | null) => (row: Row) =>
    wallet === null || row.sender === wallet || row.receiver === wallet

  return {
    chains,
    access,
    /** Transactions not mined before: each is in one block of a chain. */
    fresh(chain: number, transactions: readonly Transaction[]): Transaction[] {
      return transactions.filter(({ hash }) => {
        const key = `${chain}:${hash}`
        if (everMined.has(key)) return false
        everMined.add(key)
        return true
      })
    },
    owners: (chain: number, hash: number) =>
      new Set(
        chains[chain]
          ?.flatMap(({ transactions }) => transactions)
          .filter((transaction) => transaction.hash === hash)
          .flatMap(({ payments }) => payments.map(({ of }) => of)),
      ),
    mayEnter: (tenant: Tenant, secret: 'newest' | 'previous', isSame: boolean) =>
      access[tenant].enabled && (secret === 'newest' || isSame || clock.now() < access[tenant].graceEnds),
    /** Statuses and hashes only: the bodies are compared with those of the twin. */
    single(tenant: Tenant, hash: number, wallet: number | null): 200 | 404 | 409 {
      const found = getRows(tenant).filter((row) => row.hash === hash && touches(wallet)(row))
      return found.length === 0 ? 404 : found.length === 1 ? 200 : 409
    },
    /** The first page's `chainId:hash`, newest first. */
    page(tenant: Tenant, wallet: number | null, limit: number): string[] {
      const rows = getRows(tenant).filter(touches(wallet))
      rows.sort((a, b) => b.timestamp - a.timestamp || b.chain - a.chain || b.hash - a.hash)
      return rows.slice(0, limit).map(({ chain, hash }) => `${pools.chains[chain]}:${hash}`)
    },
  }
}
