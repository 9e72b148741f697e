/** The names of the tables, checked and quoted. @module */
import type { TableOptions } from '../table-options.js'

/** Quoted names of one mirror's tables. */
export interface TableNames {
  readonly payments: string
  readonly state: string
  /** Quotes the name of an index. An index lies in the schema of its table. */
  readonly index: (suffix: string) => string
}

/** Keeps the mirror's names apart from a `payments` table of your own. */
export const defaultPrefix = 'mirror_'

/**
 * Checks and quotes the names.
 * @throws {TypeError} When one has other characters than lower-case letters, digits and underscores, or is too long.
 */
export function tableNames({ schema, prefix = defaultPrefix }: TableOptions): TableNames {
  if (typeof prefix !== 'string' || !/^[a-z_][a-z0-9_]{0,31}$/.test(prefix))
    throw new TypeError('prefix must be 1 to 32 lower-case letters, digits and underscores, the first no digit.')
  if (schema !== undefined && (typeof schema !== 'string' || !/^[a-z_][a-z0-9_]{0,62}$/.test(schema)))
    throw new TypeError('schema must be 1 to 63 lower-case letters, digits and underscores, the first no digit.')
  const inSchema = (name: string) => `${schema === undefined ? '' : `"${schema}".`}"${prefix}${name}"`
  return {
    payments: inSchema('payments'),
    state: inSchema('state'),
    index: (suffix) => `"${prefix}payments_${suffix}"`,
  }
}
