/** Why a connection was not made. @module */

/** A host resolves to an address that notifications may not reach. Names no address: it must not map our network. */
export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError'
  readonly code = 'ERR_ADDRESS_REFUSED'
  constructor() {
    super('The address is not allowed for notifications.')
  }
}
