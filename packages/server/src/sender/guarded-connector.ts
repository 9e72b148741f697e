/** Connects only to allowed addresses. Source: docs/decisions/redirects-and-addresses.md. @module */
import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import { createSecureContext } from 'node:tls'
import { filterAnswers } from '@payment-integration/contract/internal-io'
import ipaddr from 'ipaddr.js'
import { buildConnector } from 'undici'
import { ServerError } from '../errors.js'
import { createRangeCheck } from '../internal/address-ranges.js'
import type { Resolve } from './resolve-name.js'

/**
 * A host resolves to an address that notifications may not reach. The error names no address, so that nobody can map
 * our network with it.
 */
export class AddressRejectedError extends ServerError {
  override readonly name = 'AddressRejectedError'
  readonly code = 'ERR_ADDRESS_REJECTED'
  constructor() {
    super('The address is not allowed for notifications.')
  }
}

/** Azure's wire server: looks public, but reaches the host of a virtual machine. */
const rejectedIPv4 = new Set(['168.63.129.16'])

/** The prefix of NAT64, 64:ff9b::/96 (RFC 6052), as 16-bit groups. The IPv4 address follows. */
const nat64Prefix = [0x64, 0xff9b, 0, 0, 0, 0]

/**
 * True for addresses of the public internet, by allow-list. IPv4: outside every special range. IPv6: inside 2000::/3,
 * outside every special range, and without an embedded IPv4 address. Such an address (6to4, Teredo, ISATAP, local
 * NAT64, mapped, compatible) reaches a host that a translator chooses. Only an address of the well-known NAT64 prefix
 * reaches exactly the IPv4 address inside it, which is then checked. False for anything that is not an address.
 * @param address - As a socket or resolver gives it: dotted decimal, or IPv6 without brackets.
 */
export function isPublicAddress(address: string): boolean {
  const reached = extractNat64Address(address)
  if (ipaddr.IPv4.isValidFourPartDecimal(reached)) return isPublicIPv4(ipaddr.IPv4.parse(reached))
  // A zone names an interface of this machine; no public address has one.
  if (reached.includes('%') || !ipaddr.IPv6.isValid(reached)) return false
  return isPublicIPv6(ipaddr.IPv6.parse(reached))
}

/** The IPv4 address inside an address of the well-known NAT64 prefix; any other text as it is. */
function extractNat64Address(address: string): string {
  if (!address.includes(':') || address.includes('%') || !ipaddr.IPv6.isValid(address)) return address
  const { parts } = ipaddr.IPv6.parse(address)
  if (!nat64Prefix.every((group, index) => parts[index] === group)) return address
  return parts
    .slice(nat64Prefix.length)
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.')
}

/** True only for loopback addresses: 127.0.0.0/8 and ::1, in no other spelling. */
export function isLoopbackAddress(address: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return ipaddr.IPv4.parse(address).range() === 'loopback'
  return !address.includes('%') && ipaddr.IPv6.isValid(address) && ipaddr.IPv6.parse(address).range() === 'loopback'
}

function isPublicIPv4(address: ipaddr.IPv4): boolean {
  return address.range() === 'unicast' && !rejectedIPv4.has(address.toString())
}

function isPublicIPv6(address: ipaddr.IPv6): boolean {
  const [first = 0, , , , fifth = 0, sixth = 0] = address.parts
  const isGlobalUnicast = first >= 0x2000 && first <= 0x3fff
  // ISATAP: an interface identifier of 0000:5efe or 0200:5efe followed by an IPv4 address.
  const isIsatap = (fifth & 0xfdff) === 0 && sixth === 0x5efe
  return isGlobalUnicast && !isIsatap && address.range() === 'unicast'
}

interface GuardOptions {
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

type AddressRule = (address: string) => boolean

/** The most addresses per family that are dialed: a name with hundreds must not make this machine a port scanner. */
const maxAddressesPerFamily = 4
/** How long one of several addresses is dialed before the next, in milliseconds. */
const dialMs = 500

const connectionOptions = {
  autoSelectFamily: true,
  autoSelectFamilyAttemptTimeout: dialMs,
  // A TLS session is never reused, so that hosts cannot share one.
  maxCachedSessions: 0,
  // Explicit, because an environment variable could turn verification off.
  rejectUnauthorized: true,
}

/** `https:` reaches the public internet; `http:` reaches this machine alone, in development. */
function createAddressRule(protocol: string, allowLoopbackHttp: boolean): AddressRule {
  const isAllowedLoopback: AddressRule = (address) => allowLoopbackHttp && isLoopbackAddress(address)
  return protocol === 'https:' ? (address) => isPublicAddress(address) || isAllowedLoopback(address) : isAllowedLoopback
}

/**
 * A connector for undici. It dials only checked addresses: the allowed ones of a name. The connected socket is checked
 * again before anything is sent.
 */
export function createGuardedConnector(options: GuardOptions) {
  const { allowLoopbackHttp, resolve, connectTimeoutMs, ca } = options
  const isDenied = createRangeCheck(options.denied ?? [])
  // No older TLS, whatever the process's options.
  const secureContext = createSecureContext({ minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca }) })
  const openingSockets = new Set<Socket>()
  const connectSafely: buildConnector.connector = (target, callback) => {
    const isAllowedByScheme = createAddressRule(target.protocol, allowLoopbackHttp)
    const isAllowed: AddressRule = (address) =>
      isAllowedByScheme(address) && ![address, extractNat64Address(address)].some(isDenied)
    const hostname = target.hostname.replace(/^\[|\]$/g, '')
    if (isIP(hostname) !== 0 && !isAllowed(hostname)) return callback(new AddressRejectedError(), null)
    const { lookup, cancel } = createGuardedLookup(resolve, isAllowed)
    const connect = buildConnector({ ...connectionOptions, timeout: connectTimeoutMs, lookup, secureContext })
    const socket = connect({ ...target, hostname }, (...outcome) => {
      openingSockets.delete(socket)
      if (outcome[0] === null) filterAnswers(outcome[1])
      callback(...outcome)
    }) as unknown as Socket
    openingSockets.add(socket)
    socket.once('close', () => {
      openingSockets.delete(socket)
      cancel()
    })
    socket.prependOnceListener('connect', () => {
      if (!isAllowed(socket.remoteAddress ?? '')) socket.destroy(new AddressRejectedError())
    })
  }
  return {
    connect: connectSafely,
    /** Aborts every connection that is not open yet. */
    abandon() {
      for (const socket of openingSockets) socket.destroy(new Error('The connection was abandoned.'))
    },
  }
}

/** Builds the lookup of one connection: it returns the allowed addresses of a name, or fails when there is none. */
function createGuardedLookup(resolve: Resolve, isAllowed: AddressRule): { lookup: LookupFunction; cancel(): void } {
  let cancel: () => void = () => undefined
  const lookup: LookupFunction = (hostname, { all }, callback) => {
    cancel = resolve(hostname, (error, addresses) => {
      if (error !== null) return callback(error, [])
      const allowedAddresses = addresses.filter(({ address }) => isAllowed(address))
      const [first] = allowedAddresses
      if (first === undefined) return callback(new AddressRejectedError(), [])
      if (all === true) callback(null, pickFirstOfEachFamily(allowedAddresses))
      else callback(null, first.address, first.family)
    })
  }
  return { lookup, cancel: () => cancel() }
}

function pickFirstOfEachFamily(addresses: readonly LookupAddress[]): LookupAddress[] {
  return [4, 6].flatMap((family) => addresses.filter((each) => each.family === family).slice(0, maxAddressesPerFamily))
}
