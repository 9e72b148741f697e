export type { TestDelivery, TestDeliveryOptions } from '../test-delivery.js'
export { createTestDelivery, createTestSnapshot } from '../test-delivery.js'
