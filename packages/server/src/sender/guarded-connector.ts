/** Connects only to allowed addresses: checked where the connection is made. Source: DESIGN section 3 (redirects and addresses). @module */
import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import { buildConnector } from 'undici'
import { AddressRefusedError } from './address-refused-error.js'
import { isLoopbackAddress, isPublicAddress } from './is-public-address.js'

/** What a connector needs. */
export interface GuardOptions {
  /** Dev only: this machine may be reached, and only it by `http:`. */
  readonly allowLoopbackHttp: boolean
  readonly lookup?: LookupFunction | undefined
  /** Longest time for DNS, connect and TLS, in milliseconds. */
  readonly connectTimeoutMs: number
  /** Certificates to trust instead of the system's, as PEM. */
  readonly ca?: string | undefined
}

type Allowed = (address: string) => boolean

/** The address rule of a scheme: `https:` reaches the public internet, `http:` this machine alone, and that only in dev. */
export function allowedFor(protocol: string, allowLoopbackHttp: boolean): Allowed {
  const isAllowedLoopback: Allowed = (address) => allowLoopbackHttp && isLoopbackAddress(address)
  return protocol === 'https:' ? (address) => isPublicAddress(address) || isAllowedLoopback(address) : isAllowedLoopback
}

/**
 * A connector for undici. The address that was checked is the address that is dialled; when a name resolves to several,
 * all of them must be allowed; and the connected socket is checked once more before anything is sent.
 */
export function guardedConnector(options: GuardOptions): buildConnector.connector {
  const { allowLoopbackHttp, lookup = systemLookup as LookupFunction, connectTimeoutMs, ca } = options
  function connectorFor(protocol: 'http:' | 'https:'): buildConnector.connector {
    const allowed = allowedFor(protocol, allowLoopbackHttp)
    const connect = buildConnector({
      timeout: connectTimeoutMs,
      // A TLS session is never offered to another connection, so that none is shared between hosts.
      maxCachedSessions: 0,
      // Stated, because an environment variable could turn verification off.
      rejectUnauthorized: true,
      lookup: guardedLookup(lookup, allowed),
      ...(ca === undefined ? {} : { ca }),
    } as buildConnector.BuildOptions)
    return (target, callback) => {
      const literal = target.hostname.replace(/^\[|\]$/g, '')
      if (isIP(literal) !== 0 && !allowed(literal)) return callback(new AddressRefusedError(), null)
      const socket = connect({ ...target, hostname: literal }, callback) as unknown as Socket
      socket.prependOnceListener('connect', () => {
        if (!allowed(socket.remoteAddress ?? '')) socket.destroy(new AddressRefusedError())
      })
    }
  }
  const connectors = { 'http:': connectorFor('http:'), 'https:': connectorFor('https:') }
  return (target, callback) => {
    const connect = target.protocol === 'https:' ? connectors['https:'] : connectors['http:']
    connect(target, callback)
  }
}

function guardedLookup(lookup: LookupFunction, allowed: Allowed): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null && error !== undefined) return callback(error, [])
      const addresses = found as unknown as LookupAddress[]
      const [first] = addresses
      if (first === undefined || !addresses.every(({ address }) => allowed(address)))
        return callback(new AddressRefusedError(), [])
      if (options.all === true) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}
