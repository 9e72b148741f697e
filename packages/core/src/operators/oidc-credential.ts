/** Marks operators who sign in at an OpenID provider. Source: docs/decisions/operators.md. @module */
import type { OperatorRecord } from '../ports/store-operators.js'

/** Stands in the place of the passphrase's hash. No hash is equal to it, so no passphrase matches. */
export const oidcCredential = 'oidc'

/** How an operator signs in. */
export function signsInBy({ passphrase }: Pick<OperatorRecord, 'passphrase'>): 'passphrase' | 'oidc' {
  return passphrase === oidcCredential ? 'oidc' : 'passphrase'
}

/** The hash of the operator's passphrase; null: none is set. */
export function hashOf({ passphrase }: Pick<OperatorRecord, 'passphrase'>): string | null {
  return passphrase === oidcCredential ? null : passphrase
}
