/** Our core as a web bundle has it. @module */
export { signingKey, verifyBytes } from '@payment-integration/webhook/core'
