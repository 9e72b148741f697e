/** One key per mailbox for all its spellings. Source: docs/interface.md 4.2 (email), 7 (400). @module */

/** Longest address and longest part before the `@`, in bytes of UTF-8. Source: RFC 5321, 4.5.3.1. */
const longest = { address: 254, local: 64 } as const

/** A word of the part before the `@`: letters, digits and signs, in any script. */
const word = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+$/u
/** A label of the domain, in ASCII. */
const label = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/

/**
 * The key of an e-mail address, or null when the text is not one. Case does not count. The part before the `@` is in
 * Unicode form NFC, with one form of small sigma. The domain is in ASCII by the IDNA rules, without a trailing dot. It
 * has at least two labels and is not an IP address.
 */
export function emailKey(email: string): string | null {
  const text = email.trim()
  const at = text.lastIndexOf('@')
  const lower = text.slice(0, Math.max(at, 0)).normalize('NFC').toLowerCase().normalize('NFC')
  // The capital sigma has two small forms, by its position in a word.
  const local = lower.replaceAll('ς', 'σ')
  const domain = domainKey(text.slice(at + 1))
  const names = domain.split('.')
  const isAddress =
    local.split('.').every((part) => word.test(part)) &&
    names.length > 1 &&
    names.every((name) => label.test(name)) &&
    !names.every((name) => /^\d+$/.test(name))
  const key = `${local}@${domain}`
  return isAddress && bytesOf(local) <= longest.local && bytesOf(key) <= longest.address ? key : null
}

/** The domain in ASCII; empty when it is invalid. */
function domainKey(domain: string): string {
  // In a URL, these characters end the host name or are decoded.
  if (/[/?#:\\@[\]%]/.test(domain)) return ''
  try {
    // The slash protects control characters, which the URL parser silently removes at the end.
    return new URL(`http://${domain.replace(/\.$/, '')}/`).hostname
  } catch {
    return ''
  }
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length
}
