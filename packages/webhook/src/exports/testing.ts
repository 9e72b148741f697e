export {
  createTestDelivery,
  createTestSnapshot,
  type TestDelivery,
  type TestDeliveryOptions,
} from '../test-delivery.js'
