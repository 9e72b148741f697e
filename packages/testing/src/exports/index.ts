export {
  type BuilderOptions,
  type Builders,
  createBuilders,
  type LegacyBuilders,
  type LookupItem,
  newestFirst,
  type PaymentBuilders,
  snapshotOf,
} from '../builders.js'
export { createDeliveries, type Deliveries, type DeliveryOptions, type SignedDelivery } from '../deliveries.js'
export { createFakeClock, type FakeClock, fakeClockStart } from '../fake-clock.js'
