/** Decides which addresses a notification may be sent to. Source: docs/decisions/redirects-and-addresses.md. @module */
import ipaddr from 'ipaddr.js'

/** Azure's wire server: looks public, but reaches the host of a virtual machine. */
const refusedIPv4 = new Set(['168.63.129.16'])

/**
 * True for addresses of the public internet, by allow-list. IPv4: outside every special range. IPv6: inside 2000::/3,
 * outside every special range, and without an embedded IPv4 address. Such an address (6to4, Teredo, NAT64, ISATAP,
 * mapped, compatible) reaches a host that a translator chooses. False for anything that is not an address.
 *
 * @param address - As a socket or resolver gives it: dotted decimal, or IPv6 without brackets.
 */
export function isPublicAddress(address: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return isPublicIPv4(ipaddr.IPv4.parse(address))
  // A zone names an interface of this machine; no public address has one.
  if (address.includes('%') || !ipaddr.IPv6.isValid(address)) return false
  return isPublicIPv6(ipaddr.IPv6.parse(address))
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
