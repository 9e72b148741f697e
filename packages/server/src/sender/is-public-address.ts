/** Decides which addresses a notification may be sent to. Source: docs/decisions/redirects-and-addresses.md. @module */
import ipaddr from 'ipaddr.js'

/** Azure's wire server: looks public, but reaches the host of a virtual machine. */
const refusedIPv4 = new Set(['168.63.129.16'])

/** The prefix of NAT64, 64:ff9b::/96 (RFC 6052), as 16-bit groups. The IPv4 address follows. */
const nat64 = [0x64, 0xff9b, 0, 0, 0, 0]

/**
 * True for addresses of the public internet, by allow-list. IPv4: outside every special range. IPv6: inside 2000::/3,
 * outside every special range, and without an embedded IPv4 address. Such an address (6to4, Teredo, ISATAP, local
 * NAT64, mapped, compatible) reaches a host that a translator chooses. Only an address of the well-known NAT64 prefix
 * reaches exactly the IPv4 address inside it, and is judged by that. False for anything that is not an address.
 *
 * @param address - As a socket or resolver gives it: dotted decimal, or IPv6 without brackets.
 */
export function isPublicAddress(address: string): boolean {
  const reached = untranslate(address)
  if (ipaddr.IPv4.isValidFourPartDecimal(reached)) return isPublicIPv4(ipaddr.IPv4.parse(reached))
  // A zone names an interface of this machine; no public address has one.
  if (reached.includes('%') || !ipaddr.IPv6.isValid(reached)) return false
  return isPublicIPv6(ipaddr.IPv6.parse(reached))
}

/** The IPv4 address inside an address of the well-known NAT64 prefix; any other text as it is. */
export function untranslate(address: string): string {
  if (!address.includes(':') || address.includes('%') || !ipaddr.IPv6.isValid(address)) return address
  const { parts } = ipaddr.IPv6.parse(address)
  if (!nat64.every((group, index) => parts[index] === group)) return address
  return parts
    .slice(nat64.length)
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.')
}

/** True only for loopback addresses: 127.0.0.0/8 and ::1, in no other spelling. */
export function isLoopbackAddress(address: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return ipaddr.IPv4.parse(address).range() === 'loopback'
  return !address.includes('%') && ipaddr.IPv6.isValid(address) && ipaddr.IPv6.parse(address).range() === 'loopback'
}

function isPublicIPv4(address: ipaddr.IPv4): boolean {
  return address.range() === 'unicast' && !refusedIPv4.has(address.toString())
}

function isPublicIPv6(address: ipaddr.IPv6): boolean {
  const [first = 0, , , , fifth = 0, sixth = 0] = address.parts
  const isGlobalUnicast = first >= 0x2000 && first <= 0x3fff
  // ISATAP: an interface identifier of 0000:5efe or 0200:5efe followed by an IPv4 address.
  const isIsatap = (fifth & 0xfdff) === 0 && sixth === 0x5efe
  return isGlobalUnicast && !isIsatap && address.range() === 'unicast'
}
