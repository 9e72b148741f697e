/** The size cap of a body. INTERFACE 2.3 sets none; a receiver needs one, as its callers are strangers. @module */

/** 256 KiB: some hundred times the size of a snapshot. */
export const bodyDefaults = { maxBytes: 262_144 } as const

/** @throws {RangeError} When `maxBytes` is not a whole number, 0 or more. */
export function maxBytesOption(maxBytes: number = bodyDefaults.maxBytes): number {
  if (Number.isSafeInteger(maxBytes) && maxBytes >= 0) return maxBytes
  throw new RangeError(`maxBytes is ${maxBytes}; pass a whole number of bytes, 0 or more.`)
}
