export { type ConformanceFixture, type ConformanceOptions, versionStoreConformance } from '../conformance.js'
