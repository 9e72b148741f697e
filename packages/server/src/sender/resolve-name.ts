/**
 * Resolves a name without `dns.lookup`, which blocks one of four threads per query: a few silent name servers would
 * stop all other deliveries.
 * @module
 */
import { type LookupAddress, NODATA, NOTFOUND, Resolver } from 'node:dns'

/** Called once with every address found, in dialing order: at least one, or an error. */
export type ResolveCallback = (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void

/** Resolves a name; returns a function that cancels the lookup. After that the callback is not called. */
export type Resolve = (name: string, callback: ResolveCallback) => () => void

export interface ResolverOptions {
  /** DNS servers to ask, each an IP address with or without a port. @default the system's */
  readonly servers?: readonly string[] | undefined
  /** Dev only: `localhost` and names below it are this machine, without a query. */
  readonly allowLoopback: boolean
}

/** Timeout of the first query, in milliseconds; then the next server is queried, or the same again. */
const firstQueryMs = 1_000
/** Queries per server: so many that the connection's timeout always ends the lookup first. */
const maxQueriesPerServer = 4
/** How long the addresses of one family wait for the other family, in milliseconds. */
const otherFamilyMs = 500

const loopbackAddresses: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

/**
 * Builds a resolver. It queries A and AAAA at once; IPv4 comes first in the answer. Nothing is cached between lookups,
 * and the hosts file is not read.
 * @throws TypeError When a server is not an IP address with or without a port.
 */
export function createResolve({ servers = [], allowLoopback }: ResolverOptions): Resolve {
  // One resolver per lookup: cancelling it stops all its queries, and no answer is cached for the next lookup.
  const createLookupResolver = () => {
    const resolver = new Resolver({ timeout: firstQueryMs, tries: maxQueriesPerServer })
    if (servers.length > 0) resolver.setServers(servers)
    return resolver
  }
  // Throws now if a server is malformed.
  createLookupResolver()
  return (name, callback) => {
    if (allowLoopback && /(^|\.)localhost$/i.test(name)) {
      const answer = setImmediate(callback, null, loopbackAddresses)
      return () => clearImmediate(answer)
    }
    return queryBoth(createLookupResolver(), name, callback)
  }
}

function queryBoth(resolver: Resolver, name: string, callback: ResolveCallback): () => void {
  const byFamily: Record<4 | 6, readonly string[]> = { 4: [], 6: [] }
  let pendingQueries = 2
  let failure: NodeJS.ErrnoException | undefined
  let timer: NodeJS.Timeout | undefined
  let isSettled = false
  const end = () => {
    isSettled = true
    clearTimeout(timer)
    resolver.cancel()
  }
  const answer = () => {
    end()
    const addresses = ([4, 6] as const).flatMap((family) => byFamily[family].map((address) => ({ address, family })))
    if (addresses.length > 0) callback(null, addresses)
    else callback(failure ?? Object.assign(new Error('The name has no address.'), { code: NODATA }), [])
  }
  const createListener = (family: 4 | 6) => (error: NodeJS.ErrnoException | null, addresses: readonly string[]) => {
    if (isSettled) return
    pendingQueries--
    if (error === null) byFamily[family] = addresses
    else if (failure === undefined || isEmptyAnswer(failure)) failure = error
    if (pendingQueries === 0) answer()
    else if (byFamily[family].length > 0) timer = setTimeout(answer, otherFamilyMs)
  }
  resolver.resolve4(name, createListener(4))
  resolver.resolve6(name, createListener(6))
  return end
}

/** Whether the name does not exist or has no address of the family. Any other error takes precedence over this one. */
function isEmptyAnswer({ code }: NodeJS.ErrnoException): boolean {
  return code === NODATA || code === NOTFOUND
}
