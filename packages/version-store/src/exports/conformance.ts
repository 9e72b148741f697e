export { type ConformanceFixture, createSqliteFixture, type OpenFixture } from '../conformance/fixture.js'
export type { ConformanceCase, ConformanceOptions } from '../conformance.js'
export { versionStoreCases, versionStoreConformance } from '../conformance.js'
