export { computeSignature, signDelivery } from '../sign-delivery.js'
