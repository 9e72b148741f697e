export {
  ConformanceError,
  type ConformanceFixture,
  createSqliteFixture,
  type Fault,
  type Faults,
  InjectedFaultError,
  type OpenFixture,
  type SqliteTestDatabase,
} from '../conformance/fixture.js'
export {
  type ConformanceCase,
  type ConformanceExcuse,
  type ConformanceOptions,
  type RegisterTest,
  versionStoreCases,
  versionStoreConformance,
} from '../conformance.js'
