/**
 * Tokens of claims. The one that a dispatcher gets also says how often its endpoint had begun anew by then, so that an answer of the
 * URL of before does not count for the URL of now.
 * @module
 */

/** The token that goes out, for the one that is stored. */
export function tokenOf(stored: string, endpointEpoch: number): string {
  return `${stored}.${endpointEpoch}`
}

/** The stored token with the epoch of its endpoint; null for what was never given out. */
export function readToken(token: string): { readonly stored: string; readonly endpointEpoch: number } | null {
  const dot = token.lastIndexOf('.')
  if (dot < 0) return null
  return { stored: token.slice(0, dot), endpointEpoch: Number(token.slice(dot + 1)) }
}
