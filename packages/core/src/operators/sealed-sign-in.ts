/** Seals the data of a sign-in in progress at an OpenID provider. Source: docs/decisions/operators.md. @module */
import type { Random } from '../ports/world.js'
import type { MasterKey } from '../secrets/master-key.js'
import { openSealed, type SealedPlace, sealText } from '../secrets/seal-text.js'

const place: SealedPlace = { purpose: 'sign-in', boundTo: 'cookie' }

/** Seals a text with the current master key: `<key version>.<base64url>`. */
export function sealSignIn(keys: MasterKey, random: Pick<Random, 'bytes'>, text: string): string {
  const { keyVersion, sealed } = sealText(keys, random, place, text)
  return `${keyVersion}.${sealed}`
}

/** Opens it; null: it was altered, or its master key is not configured. */
export function openSignIn(keys: MasterKey, given: string): string | null {
  const [, version, sealed] = /^(\d{1,10})\.([A-Za-z0-9_-]{1,4096})$/.exec(given) ?? []
  if (version === undefined || sealed === undefined) return null
  const opened = openSealed(keys, place, { keyVersion: Number(version), sealed })
  return opened === null ? null : Buffer.from(opened).toString('utf8')
}
