/** Entry of the web bundle of our core. @module */
export { signingKey, verifyBytes } from '@payment-integration/webhook/core'
