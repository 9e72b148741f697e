export type { SigningKey } from '../signing-key.js'
export { signingKey, verifyBytes } from '../verify-signature.js'
