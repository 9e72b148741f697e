/** Reads the variables of traces and the access log. Source: docs/observability.md. @module */
import type { Variables } from './variables.js'

/** Names of these variables. */
export const observationVariables = ['PI_ACCESS_LOG', 'PI_TRACING'] as const

/** Reads `PI_ACCESS_LOG`. */
export function readAccessLog(variables: Variables): boolean {
  return variables.choice('PI_ACCESS_LOG', ['on', 'off'], 'off') === 'on'
}

/** Reads `PI_TRACING`. */
export function readTracing(variables: Variables): boolean {
  return variables.choice('PI_TRACING', ['on', 'off'], 'off') === 'on'
}
