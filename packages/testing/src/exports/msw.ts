export { createTestService, type TestFault, type TestService, type TestServiceOptions } from '../msw.js'
