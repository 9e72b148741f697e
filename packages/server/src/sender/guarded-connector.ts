/**
 * Connects only to allowed addresses, checked at connect time. Source: docs/decisions/redirects-and-addresses.md.
 * @module
 */
import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import { createSecureContext, type SecureContext } from 'node:tls'
import { filterAnswers } from '@payment-integration/contract/answers'
import { buildConnector } from 'undici'
import { isInRanges } from '../internal/address-ranges.js'
import { AddressRefusedError } from './address-refused-error.js'
import { isLoopbackAddress, isPublicAddress, untranslate } from './is-public-address.js'
import type { Resolve } from './resolve-name.js'

/** Options of a connector. */
export interface GuardOptions {
  /** Dev only: allows this machine, and `http:` for it alone. */
  readonly allowLoopbackHttp: boolean
  readonly resolve: Resolve
  /** Addresses and CIDR ranges that the operator denies. They apply to this machine, too. */
  readonly denied?: readonly string[] | undefined
  /** Longest time for DNS, connect and TLS, in milliseconds. */
  readonly connectTimeoutMs: number
  /** Certificates to trust instead of the system's, as PEM. */
  readonly ca?: string | undefined
}

/** Opens connections, and can abort those that are not open yet. */
export interface GuardedConnector {
  readonly connect: buildConnector.connector
  /** Aborts every connection that is not open yet. */
  abandon(): void
}

type Allowed = (address: string) => boolean

/** Most addresses per family that are dialled: a name with hundreds must not make this machine a port scanner. */
const addressesPerFamily = 4
/** How long one of several addresses is dialled before the next, in milliseconds. */
const addressMs = 500

/** The address rule of a scheme: `https:` reaches the public internet; `http:` only this machine, and only in dev. */
export function allowedFor(protocol: string, allowLoopbackHttp: boolean): Allowed {
  const isAllowedLoopback: Allowed = (address) => allowLoopbackHttp && isLoopbackAddress(address)
  return protocol === 'https:' ? (address) => isPublicAddress(address) || isAllowedLoopback(address) : isAllowedLoopback
}

/**
 * A connector for undici. It dials only checked addresses: the allowed ones of a name. The connected socket is checked
 * again before anything is sent.
 */
export function guardedConnector(options: GuardOptions): GuardedConnector {
  const { allowLoopbackHttp, resolve, connectTimeoutMs, ca } = options
  const isDenied = isInRanges(options.denied ?? [])
  // No older TLS, whatever the process's options.
  const secureContext = createSecureContext({ minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca }) })
  const pending = new Set<Socket>()
  return {
    connect(target, callback) {
      const isOpen = allowedFor(target.protocol, allowLoopbackHttp)
      const allowed: Allowed = (address) => isOpen(address) && ![address, untranslate(address)].some(isDenied)
      const hostname = target.hostname.replace(/^\[|\]$/g, '')
      if (isIP(hostname) !== 0 && !allowed(hostname)) return callback(new AddressRefusedError(), null)
      const { lookup, cancel } = guardedLookup(resolve, allowed)
      const connect = buildConnector(connectionOptions(connectTimeoutMs, lookup, secureContext))
      const socket = connect({ ...target, hostname }, (...made) => {
        pending.delete(socket)
        if (made[0] === null) filterAnswers(made[1])
        callback(...made)
      }) as unknown as Socket
      pending.add(socket)
      socket.once('close', () => {
        pending.delete(socket)
        cancel()
      })
      socket.prependOnceListener('connect', () => {
        if (!allowed(socket.remoteAddress ?? '')) socket.destroy(new AddressRefusedError())
      })
    },
    abandon() {
      for (const socket of pending) socket.destroy(new Error('The connection was abandoned.'))
    },
  }
}

function connectionOptions(timeout: number, lookup: LookupFunction, secureContext: SecureContext) {
  return {
    timeout,
    lookup,
    secureContext,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: addressMs,
    // A TLS session is never reused, so that hosts cannot share one.
    maxCachedSessions: 0,
    // Explicit, because an environment variable could turn verification off.
    rejectUnauthorized: true,
  } as buildConnector.BuildOptions
}

/** A lookup for one connection: it returns the allowed addresses of a name, or fails when there is none. */
function guardedLookup(resolve: Resolve, allowed: Allowed): { lookup: LookupFunction; cancel(): void } {
  let cancel: () => void = () => undefined
  const lookup: LookupFunction = (hostname, { all }, callback) => {
    cancel = resolve(hostname, (error, found) => {
      if (error !== null) return callback(error, [])
      const open = found.filter(({ address }) => allowed(address))
      const [first] = open
      if (first === undefined) return callback(new AddressRefusedError(), [])
      if (all === true) callback(null, firstOfEachFamily(open))
      else callback(null, first.address, first.family)
    })
  }
  return { lookup, cancel: () => cancel() }
}

function firstOfEachFamily(found: readonly LookupAddress[]): LookupAddress[] {
  return [4, 6].flatMap((family) => found.filter((each) => each.family === family).slice(0, addressesPerFamily))
}
