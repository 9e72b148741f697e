export type { SigningKey } from '../signing-key.js'
export { signingKey, type VerifyBytesInput, verifyBytes } from '../verify-signature.js'
