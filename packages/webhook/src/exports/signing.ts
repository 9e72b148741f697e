export { type SignInput, signatureOf, signDelivery } from '../sign-delivery.js'
