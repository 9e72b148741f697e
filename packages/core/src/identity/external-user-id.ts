/** The name of an applicant at the provider. Source: DESIGN section 5.4 (an attempt has a name of its own). @module */
import { createHash } from 'node:crypto'

/** Default name space. */
export const defaultNamespace = 'pi'

/** Account ids that are safe in a path and tell nothing of a person: ids of hosts may be e-mail addresses. */
const plainAccount = /^[A-Za-z0-9._-]{1,64}$/

/**
 * Checks a name space: what tells this service and environment from others that share the client at the provider.
 * @throws TypeError When it is not 1 to 32 letters, digits, dots, dashes or underscores.
 */
export function checkNamespace(namespace: string): string {
  if (/^[A-Za-z0-9._-]{1,32}$/.test(namespace)) return namespace
  throw new TypeError('The name space of applicants is not 1 to 32 letters, digits, dots, dashes or underscores.')
}

/** The name of an attempt: the same whenever it is asked for, and of no other attempt. @param number - From 1. */
export function externalUserIdOf(namespace: string, accountId: string, number: number): string {
  const account = plainAccount.test(accountId)
    ? accountId
    : `h~${createHash('sha256').update(JSON.stringify(accountId)).digest('hex').slice(0, 40)}`
  return `${namespace}:${account}:${number}`
}
