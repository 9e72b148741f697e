/** Finds the source of a request behind trusted proxies. @module */
import { isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { isInRanges } from '../internal/address-ranges.js'

/** Finds the source of requests and connections. */
export interface SourceReader {
  /**
   * The source of a request. `X-Forwarded-For` is read from its end, as long as the address so far is a trusted proxy.
   * So entries written by others are ignored.
   * @param peer - The peer address of the connection.
   * @param forwardedFor - All values of the header, joined by commas; null without it.
   */
  sourceOf(peer: string | undefined, forwardedFor: string | null): string
  /** The source of a connection; null for a trusted proxy, which carries requests of many sources. */
  sourceOfConnection(peer: string | undefined): string | null
}

/** The source of all requests without a known address. */
const unknown = 'unknown'

/**
 * Builds the finder. A source is an IPv4 address, or the first 64 bits of an IPv6 address: one network owns all of
 * those.
 * @param trustedProxies - Addresses and CIDR ranges.
 * @throws {TypeError} For a range that cannot be read.
 */
export function createSourceReader(trustedProxies: readonly string[] = []): SourceReader {
  const isTrusted = isInRanges(trustedProxies)

  function addressOf(peer: string, forwardedFor: string | null): string {
    let address = peer
    for (let end = forwardedFor?.length ?? 0; end > 0 && isTrusted(address); ) {
      const comma = forwardedFor?.lastIndexOf(',', end - 1) ?? -1
      const hop = readHop(forwardedFor?.slice(comma + 1, end) ?? '')
      if (hop === null) break
      address = hop
      end = comma
    }
    return address
  }

  return {
    sourceOf(peer, forwardedFor) {
      const address = readAddress(peer)
      return address === null ? unknown : counted(addressOf(address, forwardedFor))
    },
    sourceOfConnection(peer) {
      const address = readAddress(peer)
      if (address === null) return unknown
      return isTrusted(address) ? null : counted(address)
    },
  }
}

/** Parses a header entry: an address that some proxies write with a port, and IPv6 in brackets. */
function readHop(entry: string): string | null {
  const text = entry.trim()
  if (text.length > 64) return null
  const [, v6, v4] = /^(?:\[([0-9a-f:.]+)\]|([0-9.]+))(?::[0-9]{1,5})?$/i.exec(text) ?? []
  return readAddress(v6 ?? v4 ?? text)
}

/** The canonical form of an address. An IPv4-mapped IPv6 address, as dual-stack sockets report it, becomes IPv4. */
function readAddress(text: string | undefined): string | null {
  if (text === undefined) return null
  if (isIPv4(text)) return text
  return isIPv6(text) ? ipaddr.process(text).toString() : null
}

function counted(address: string): string {
  if (isIPv4(address)) return address
  const { parts } = ipaddr.IPv6.parse(address)
  return `${parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`
}
