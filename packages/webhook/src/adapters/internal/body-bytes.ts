/** Lengths of bodies. @module */

/** How much of a body that nobody wants is thrown away before it is cut off, in bytes: 4 MiB. */
export const discardedBytes = 4_194_304

/**
 * The length that a request declares.
 * @param header - The value of Content-Length. `undefined` when it is no number of bytes.
 */
export function declaredBytes(header: unknown): number | undefined {
  return typeof header === 'string' && /^[0-9]+$/.test(header) ? Number(header) : undefined
}
