/** Checks the names of variables that hold secrets. @module */
import { UsageError } from './errors.js'

/**
 * Returns the name of a variable that holds a secret.
 * @throws UsageError `ERR_USAGE` for anything else: somebody may pass the secret itself, which must not be printed.
 */
export function variableName(name: string): string {
  if (/^[A-Za-z_]\w{0,127}$/.test(name) && !/whsec_|pi_api_/.test(name)) return name
  throw new UsageError(
    '--secret-env and the like take the name of a variable, and no secret: other users see arguments.',
  )
}
