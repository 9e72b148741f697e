import { ConfigError } from '../../src/config/config.js'

/** The problems of a configuration, empty when it can be read. */
export function problemsIn(read: () => unknown): readonly string[] {
  try {
    read()
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}
