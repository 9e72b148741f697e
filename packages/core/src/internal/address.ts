/** Parses addresses of EVM chains. @module */

/** The address lowercased when `text` is 0x and 40 hex digits in any case, else null. */
export function lowercaseAddress(text: string): string | null {
  return /^0x[0-9a-fA-F]{40}$/.test(text) ? text.toLowerCase() : null
}
