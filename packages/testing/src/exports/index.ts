export { type BuilderOptions, type Builders, createBuilders, createFakeClock, type FakeClock } from '../builders.js'
export { createDeliveries, type Deliveries, type DeliveryOptions, type SignedDelivery } from '../deliveries.js'
export { TestingError, type TestingErrorCode } from '../errors.js'
