/** One key for each mailbox, whatever its spelling. Source: INTERFACE 4.2 (email). @module */

/**
 * The key of an e-mail address: case does not count, the part before the `@` is in Unicode form NFC, the domain in ASCII by the rules for
 * internationalised names, without a dot at its end. Text that is no address is a key as it stands, in lower case.
 */
export function emailKey(email: string): string {
  const text = email.trim()
  const at = text.lastIndexOf('@')
  const local = text
    .slice(0, at + 1)
    .normalize('NFC')
    .toLowerCase()
    .normalize('NFC')
  return `${local}${domainKey(text.slice(at + 1))}`
}

function domainKey(domain: string): string {
  // A URL would end the host name at these, and join what is not one domain.
  if (/[/?#:\\@[\]%]/.test(domain)) return domain.toLowerCase()
  try {
    return new URL(`http://${domain}`).hostname.replace(/\.$/, '')
  } catch {
    return domain.toLowerCase()
  }
}
