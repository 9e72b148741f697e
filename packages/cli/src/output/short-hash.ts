/** Short forms of long names. @module */

/** `0x9f2c81..04e1`: enough to tell payments apart on a screen, never used to name one. */
export function shortHash(hash: string): string {
  return hash.length <= 14 ? hash : `${hash.slice(0, 8)}..${hash.slice(-4)}`
}
