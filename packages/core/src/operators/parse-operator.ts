/** Parses names and roles of operators. Source: docs/decisions/operators.md. @module */
import type { OperatorRole } from '../ports/store-operators.js'
import { OperatorInvalidError } from './errors.js'

/** The roles; each may do all that the ones before it may. */
export const operatorRoles = ['viewer', 'operator', 'admin'] as const satisfies readonly OperatorRole[]

const namePattern = /^[a-z0-9](?:[a-z0-9._@-]{0,62}[a-z0-9])?$/i

/**
 * The name in lower case; null: no operator can have it.
 * @example parseOperatorName('Alice@shop.example') // 'alice@shop.example'
 */
export function parseOperatorName(text: string): string | null {
  // Before the lower case: that of the Kelvin sign is the letter k, which would be the name of somebody else.
  return namePattern.test(text) ? text.toLowerCase() : null
}

/** The name in lower case. @throws OperatorInvalidError `ERR_OPERATOR_INVALID`. */
export function checkOperatorName(text: string): string {
  const name = parseOperatorName(text)
  if (name === null)
    throw new OperatorInvalidError(
      'An operator name has 1 to 64 letters, digits, dots, dashes, underscores or @ signs; it begins and ends with a letter or digit.',
    )
  return name
}

/** @throws OperatorInvalidError `ERR_OPERATOR_INVALID`. */
export function checkRole(text: string): OperatorRole {
  const role = operatorRoles.find((each) => each === text)
  if (role === undefined)
    throw new OperatorInvalidError(`The role of an operator is one of ${operatorRoles.join(', ')}.`)
  return role
}
