/** The error of a denied address. @module */

/**
 * A host resolves to an address that notifications may not reach. It names no address, so that it cannot map our
 * network.
 */
export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError'
  readonly code = 'ERR_ADDRESS_REFUSED'
  constructor() {
    super('The address is not allowed for notifications.')
  }
}
