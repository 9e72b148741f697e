export type { TestFault } from '../msw.js'
export { createTestService, type TestService, type TestServiceOptions } from '../msw.js'
