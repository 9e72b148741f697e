/** Which master keys the rows in memory need. @module */
import type { SealingKeyUse } from '../../src/ports/store-sealing-keys.js'
import type { MemoryState } from './memory-state.js'

type Keyed = { readonly keyVersion: number } | null

/** Counts rows by place and key. @param now - Unix milliseconds: a secret whose grace time is over needs no key. */
export function sealingKeysOf(
  { integrations, legacyKeys, dataKeys }: Pick<MemoryState, 'integrations' | 'legacyKeys' | 'dataKeys'>,
  now: number,
): SealingKeyUse[] {
  const all = [...integrations.values()]
  const inGrace = <Secret extends { readonly until: number }>(secret: Secret | null) =>
    secret !== null && secret.until > now ? secret : null
  const places: Readonly<Record<string, readonly Keyed[]>> = {
    'integrations.signing_secret': all.map(({ signingSecret }) => signingSecret),
    'integrations.api_secret': all.map(({ apiSecret }) => apiSecret),
    'integrations.previous_api_secret': all.map(({ previousApiSecret }) => inGrace(previousApiSecret)),
    'integrations.prepared_signing_secret': all.map(({ preparedSigningSecret }) => preparedSigningSecret),
    'integrations.previous_signing_secret': all.map(({ previousSigningSecret }) => inGrace(previousSigningSecret)),
    'legacy_keys.secret': [...legacyKeys.values()].map(({ secret, revokedAt }) => (revokedAt === null ? secret : null)),
    'data_keys.key': [...dataKeys.values()],
  }
  return Object.entries(places).flatMap(([place, secrets]) => {
    const versions = secrets.flatMap((secret) => (secret === null ? [] : [secret.keyVersion]))
    return [...new Set(versions)].map((keyVersion) => ({
      place,
      keyVersion,
      rows: versions.filter((each) => each === keyVersion).length,
    }))
  })
}
