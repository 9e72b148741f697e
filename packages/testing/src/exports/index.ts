export { type BuilderOptions, type Builders, createBuilders } from '../builders/create-builders.js'
export type { LegacyBuilders, LookupItem } from '../builders/legacy.js'
export { newestFirst, type PaymentBuilders, snapshotOf } from '../builders/payments.js'
export {
  createDeliveries,
  type Deliveries,
  type DeliveryOptions,
  type SignedDelivery,
} from '../deliveries/create-deliveries.js'
export { createFakeClock, type FakeClock, fakeClockStart } from '../fake-clock.js'
