/** Formats accounts for the audit log. Source: docs/decisions/audit.md. @module */
import { createHmac } from 'node:crypto'
import type { AccountRecord } from '../ports/store-accounts.js'
import type { KeyVersion } from '../secrets/master-key.js'

/** Hex digits of a fingerprint: enough to distinguish the configurations of one account. */
const fingerprintLength = 12

/**
 * Where an account is paid, and a keyed fingerprint of its configuration. Tokens and URLs are left out: a configuration
 * may have thousands of tokens, and its URL may contain a secret.
 */
export function shownAccount(key: KeyVersion, { address, config }: Pick<AccountRecord, 'address' | 'config'>) {
  const others = config.coins.flatMap(({ chainId, defaultAddress }) =>
    defaultAddress === undefined ? [] : [`${chainId}: ${defaultAddress}`],
  )
  // The key of URLs serves: no URL is a JSON object.
  const digest = createHmac('sha256', key.derive('audit-url')).update(JSON.stringify(config), 'utf8').digest('hex')
  return { paidTo: [address, ...others].join(', '), config: digest.slice(0, fingerprintLength) }
}
