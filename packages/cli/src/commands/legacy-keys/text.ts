/** How commands print a legacy API key. @module */
import type { LegacyKeyView } from '@payment-integration/core'

/** One line about a key: its id, whether it opens anything, the day it was made, its name. */
export function legacyKeyLine({ id, name, createdAt, revokedAt }: LegacyKeyView): string {
  const day = new Date(createdAt).toISOString().slice(0, 10)
  return `${id}  ${revokedAt === null ? 'active ' : 'revoked'}  ${day}  ${name}`.trimEnd()
}
