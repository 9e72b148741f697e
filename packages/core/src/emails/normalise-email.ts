/** Gives each e-mail address one spelling. Source: docs/interface.md 4.2 (email). @module */
import { domainToASCII } from 'node:url'
import { shareRequestLimits } from '@payment-integration/contract'

/** Longest address and longest part before the `@`, in bytes of UTF-8. Source: RFC 5321 4.5.3.1. */
const most = { address: 254, local: 64 } as const

/** Letters, digits and the signs of a dot-atom, beyond ASCII too (RFC 6531): no spaces, quotes, control characters. */
const localPart = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u
const domainName = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * The normal form of an address, or null for an invalid one. It is in lower case, with the part before the `@` in
 * Unicode form NFC and the domain in ASCII (UTS 46). A final sigma counts as a sigma: both have the same capital.
 * NFKC would also join characters that only look alike, such as full-width letters and ligatures. Mail servers
 * distinguish those, so the owner of one mailbox would own the account of the other. A text above the limit of a share
 * request is rejected unread. The limits of RFC 5321 apply to the normal form.
 */
export function normaliseEmail(input: string): string | null {
  if (input.length > shareRequestLimits.email) return null
  const text = input.trim()
  const at = text.lastIndexOf('@')
  // These end a host name in a URL, so the rest would be cut off silently.
  if (at < 1 || /[/?#:\\[\]%]/.test(text.slice(at + 1))) return null
  const local = text.slice(0, at).normalize('NFC').toLowerCase().replaceAll('\u03c2', '\u03c3').normalize('NFC')
  // A trailing dot names the same domain.
  const domain = domainToASCII(text.slice(at + 1).replace(/\.$/, '')).toLowerCase()
  if (!localPart.test(local) || !domainName.test(domain) || /^[0-9.]+$/.test(domain)) return null
  const address = `${local}@${domain}`
  return Buffer.byteLength(local) > most.local || Buffer.byteLength(address) > most.address ? null : address
}
