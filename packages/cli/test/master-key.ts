/** A master key for tests: 32 bytes as hex. */
export const testMasterKey = '0123456789abcdef'.repeat(4)
