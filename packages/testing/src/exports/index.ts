export { type BuilderOptions, type Builders, createBuilders } from '../builders.js'
export { createDeliveries, type Deliveries, type DeliveryOptions, type SignedDelivery } from '../deliveries.js'
export { createFakeClock, type FakeClock } from '../fake-clock.js'
