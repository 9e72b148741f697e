export { createTestService, type TestService, type TestServiceOptions } from '../msw/create-test-service.js'
export type { TestFault } from '../msw/faults.js'
