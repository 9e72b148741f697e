export type { Snapshot } from '../snapshot.js'
export {
  createTestDelivery,
  createTestSnapshot,
  type TestDelivery,
  type TestDeliveryOptions,
} from '../test-delivery.js'
