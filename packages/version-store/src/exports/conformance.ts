export { ConformanceError } from '../conformance/assert.js'
export { type Fault, type Faults, InjectedFaultError } from '../conformance/faults.js'
export type { ConformanceFixture, OpenFixture } from '../conformance/fixture.js'
export { createSqliteFixture, type SqliteTestDatabase } from '../conformance/sqlite-fixture.js'
export {
  type ConformanceCase,
  type ConformanceExcuse,
  type ConformanceOptions,
  type RegisterTest,
  versionStoreCases,
  versionStoreConformance,
} from '../conformance.js'
