/** Parses and matches ranges of IP addresses. @module */
import ipaddr from 'ipaddr.js'

/** The problem of a range, as text for the operator, without the range itself. */
type Problem = string

type Range = readonly [base: ipaddr.IPv4 | ipaddr.IPv6, prefix: number]

/**
 * Returns a predicate that is true for addresses in one of the ranges.
 * @param ranges - Addresses and CIDR ranges: `203.0.113.7`, `203.0.113.0/24`, `2001:db8::/32`.
 * @throws {TypeError} For a range that {@link findRangeProblem} rejects.
 */
export function createRangeCheck(ranges: readonly string[]): (address: string) => boolean {
  const parsed = ranges.map((range) => {
    const parsedRange = parseRange(range)
    if (typeof parsedRange === 'string') throw new TypeError(`The range ${JSON.stringify(range)} ${parsedRange}.`)
    return parsedRange
  })
  return (text) => {
    if (parsed.length === 0 || !ipaddr.isValid(text)) return false
    const address = ipaddr.parse(text)
    return parsed.some((range) => address.kind() === range[0].kind() && address.match([...range] as never))
  }
}

/**
 * The problem of a range, or null. A base with bits beyond the prefix is rejected: it may be a mistake that covers too
 * little.
 */
export function findRangeProblem(range: string): Problem | null {
  const parsed = parseRange(range)
  return typeof parsed === 'string' ? parsed : null
}

function parseRange(text: string): Range | Problem {
  const [, base = '', prefix] = /^([0-9a-fA-F:.]+)(?:\/(0|[1-9][0-9]{0,2}))?$/.exec(text) ?? []
  const address = parseAddress(base)
  if (address === null) return 'is no IP address or CIDR range'
  const bits = address.kind() === 'ipv4' ? 32 : 128
  const length = prefix === undefined ? bits : Number(prefix)
  if (length > bits) return `has a prefix longer than ${bits} bits`
  const network = (bits === 32 ? ipaddr.IPv4 : ipaddr.IPv6).networkAddressFromCIDR(`${base}/${length}`)
  return network.toString() === address.toString() ? [address, length] : 'has bits set beyond its prefix'
}

function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text)
  return text.includes(':') && ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : null
}
