/** Where the tables of a mirror lie. @module */

/** The two kinds of database. */
export type Dialect = 'postgres' | 'sqlite'

/** The names of the tables: `<prefix>payments` and `<prefix>state`. Lower-case letters, digits and underscores. */
export interface TableOptions {
  /** PostgreSQL: an existing schema. @default the first one of the search path */
  readonly schema?: string | undefined
  /** Begins the name of each table, so that a `payments` table of your own stays apart. @default 'mirror_' */
  readonly prefix?: string | undefined
}
