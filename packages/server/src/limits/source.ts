/** Where a request comes from, through proxies that are trusted. @module */
import { isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { isInRanges } from '../internal/address-ranges.js'

/** Reads where requests and connections come from. */
export interface SourceReader {
  /**
   * The address of a request. `X-Forwarded-For` is read from its end, as long as the address so far is a trusted proxy:
   * what others wrote there counts for nothing.
   * @param peer - The other end of the connection.
   * @param forwardedFor - All values of the header, joined by commas; null without it.
   */
  sourceOf(peer: string | undefined, forwardedFor: string | null): string
  /** The same of a connection; null for one from a trusted proxy, which carries the requests of many. */
  sourceOfConnection(peer: string | undefined): string | null
}

/** Counts as one source: requests whose address their host does not tell. */
const unknown = 'unknown'

/**
 * Builds the reader. A source is an IPv4 address, or the first 64 bits of an IPv6 address: who has one of these has
 * all.
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

/** An entry of the header: an address, which some proxies write with a port, and IPv6 in brackets. */
function readHop(entry: string): string | null {
  const text = entry.trim()
  if (text.length > 64) return null
  const [, v6, v4] = /^(?:\[([0-9a-f:.]+)\]|([0-9.]+))(?::[0-9]{1,5})?$/i.exec(text) ?? []
  return readAddress(v6 ?? v4 ?? text)
}

/** The one spelling of an address; an IPv4 address inside of IPv6, as a socket of both families gives it, is IPv4. */
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
