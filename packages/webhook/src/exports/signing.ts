export { integrationHeader, signatureHeader } from '../headers.js'
export { type SignInput, signatureOf, signDelivery } from '../sign-delivery.js'
