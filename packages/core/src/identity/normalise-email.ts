/** One spelling for each e-mail address. Source: INTERFACE 4.2 (email), security reference 6 (two spellings race past a lock). @module */
import { domainToASCII } from 'node:url'

/** Longest address and longest part before the `@`, in bytes of UTF-8. Source: RFC 5321 4.5.3.1. */
const most = { address: 254, local: 64 } as const

/** Letters, digits and the signs of a dot-atom, beyond ASCII too (RFC 6531). Spaces, quotes, control and format characters are none of it. */
const localPart = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u
const domainName = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * The normal form of an address, or null when it is none: lower case, the part before the `@` in Unicode form NFC, the domain in ASCII by the rules for
 * internationalised names (UTS 46). Different spellings of one mailbox become the same; what a mail server may tell apart only by case does too, as
 * users expect. NFC joins what is the same character written in two ways. NFKC would also join characters that merely look alike, such as full-width
 * letters and ligatures, and a mail server tells those apart: whoever has the one mailbox would own the account of the other.
 */
export function normaliseEmail(input: string): string | null {
  const text = input.trim()
  const at = text.lastIndexOf('@')
  // What a URL ends a host name at would be cut off without a word.
  if (at < 1 || /[/?#:\\[\]%]/.test(text.slice(at + 1))) return null
  const local = text.slice(0, at).normalize('NFC').toLowerCase().normalize('NFC')
  // A dot at the end names the same domain.
  const domain = domainToASCII(text.slice(at + 1).replace(/\.$/, '')).toLowerCase()
  if (!localPart.test(local) || !domainName.test(domain) || /^[0-9.]+$/.test(domain)) return null
  const address = `${local}@${domain}`
  return Buffer.byteLength(local) > most.local || Buffer.byteLength(address) > most.address ? null : address
}
