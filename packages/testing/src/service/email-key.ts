/** One key for each mailbox, whatever its spelling. Source: docs/interface.md 4.2 (email), 7 (400). @module */

/** Longest address and longest part before the `@`, in bytes of UTF-8. Source: RFC 5321, 4.5.3.1. */
const longest = { address: 254, local: 64 } as const

/** A word of the part before the `@`: letters, digits and signs, beyond ASCII too. */
const word = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+$/u
/** A name of the domain, in ASCII. */
const label = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/

/**
 * The key of an e-mail address, or null when it is none: case does not count, the part before the `@` is in Unicode
 * form NFC with every small sigma alike, the domain in ASCII by the rules for internationalised names, without a dot at
 * its end. A domain has two names or more, and is no IP address.
 */
export function emailKey(email: string): string | null {
  const text = email.trim()
  const at = text.lastIndexOf('@')
  const lower = text.slice(0, Math.max(at, 0)).normalize('NFC').toLowerCase().normalize('NFC')
  // The capital letter has two small ones, by its place in a word.
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

/** Empty when it is no domain. */
function domainKey(domain: string): string {
  // A URL would end the host name at these, or decode them.
  if (/[/?#:\\@[\]%]/.test(domain)) return ''
  try {
    // At the end of a URL, control characters would be cut off without a word.
    return new URL(`http://${domain.replace(/\.$/, '')}/`).hostname
  } catch {
    return ''
  }
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length
}
