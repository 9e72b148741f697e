export { signatureOf, signDelivery } from '../sign-delivery.js'
