/**
 * Checks keys and versions where they enter a store. All adapters call it, so that all refuse alike.
 * Source: docs/interface.md 2.3 (fields) and 6 (identity of a snapshot).
 * @module
 */
import type { PaymentKey, VersionedPayment } from './version-store.js'

/**
 * The key with addresses and hash in lower case.
 * @throws {TypeError} When a part is missing, empty or no string: such payments would share one version.
 */
export function normalizeKey({ integrationAddress, chainId, txHash }: PaymentKey): PaymentKey {
  for (const [name, value] of Object.entries({ integrationAddress, chainId, txHash }))
    if (typeof value !== 'string' || value === '')
      throw new TypeError(`${name} is ${value === '' ? 'empty' : typeof value}; pass a non-empty string.`)
  return { integrationAddress: integrationAddress.toLowerCase(), chainId, txHash: txHash.toLowerCase() }
}

/** An integration's address in lower case. @throws {TypeError} When it is empty or no string. */
export function normalizeIntegration(integrationAddress: string): string {
  return normalizeKey({ integrationAddress, chainId: '*', txHash: '*' }).integrationAddress
}

/** Checks a version. @throws {RangeError} When it is not a safe whole number, 1 or more. */
export function checkVersion({ version }: VersionedPayment): number {
  if (Number.isSafeInteger(version) && version >= 1) return version
  throw new RangeError(`version is ${String(version)}; pass a whole number, 1 or more.`)
}
