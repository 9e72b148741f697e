/** Checks of the option that lists bridge contracts. @module */
import { toAddress } from '../internal/hex.js'

/** @throws {TypeError} When an entry is no address. */
export function checkSpokePools(spokePools: readonly string[]): ReadonlySet<string> {
  return new Set(
    spokePools.map((given) => {
      const address = toAddress(given)
      if (address !== null) return address
      throw new TypeError(`A SpokePool's address is ${JSON.stringify(given)}; pass 0x and 40 hex digits.`)
    }),
  )
}
