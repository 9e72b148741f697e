/** Reads the hash of a transaction from a row. @module */

/** The `0x` text of the hash that a statement read. */
export const txHashOf = (read: string): string => read
