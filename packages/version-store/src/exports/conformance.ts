export { type ConformanceFixture, createSqliteFixture, type OpenFixture } from '../conformance/fixture.js'
export {
  type ConformanceCase,
  type ConformanceOptions,
  versionStoreCases,
  versionStoreConformance,
} from '../conformance.js'
