/** Authenticates callers. Source: docs/interface.md 5. @module */

/** The address and API secret of an integration. */
export interface TestIntegration {
  /** 0x and 40 hex digits, in any case. */
  readonly address: string
  readonly apiSecret: string
}

/** The lowercased address of the caller, or null for every flaw. Accepts only `Basic` with canonical base64. */
export function callerOf(request: Request, integrations: readonly TestIntegration[]): string | null {
  const [, encoded = ''] = /^basic ([A-Za-z0-9+/]+={0,2})$/i.exec(request.headers.get('authorization') ?? '') ?? []
  const [address = '', secret = ''] = splitAtColon(decode(encoded))
  const found = integrations.find((each) => each.address.toLowerCase() === address.toLowerCase())
  return found !== undefined && found.apiSecret === secret ? found.address.toLowerCase() : null
}

/** Whether the request has the legacy API key, bare or as `Bearer`. */
export function hasLegacyKey(request: Request, keys: readonly string[]): boolean {
  const value = request.headers.get('authorization') ?? ''
  return keys.includes(value) || keys.includes(/^bearer (\S+)$/i.exec(value)?.[1] ?? '')
}

function decode(base64: string): string {
  try {
    const text = atob(base64)
    return btoa(text) === base64 ? text : ''
  } catch {
    return ''
  }
}

function splitAtColon(text: string): [string, string] {
  const colon = text.indexOf(':')
  return colon < 0 ? ['', ''] : [text.slice(0, colon), text.slice(colon + 1)]
}
