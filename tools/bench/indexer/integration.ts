/** Named by every payment of the measured chains. @module */

/** The address, lowercased. */
export const integrationAddress = `0x${'a1'.repeat(20)}`
