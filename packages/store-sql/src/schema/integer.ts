/** Integers of both databases. @module */

/** An exact integer: SQLite returns a number, PostgreSQL's `bigint` a string. Written as a number. */
export type Integer = number | string
