export * as fixtures from '../../conformance/fixtures.js'
export { storeConformance } from '../../conformance/store-conformance.js'
export type { OpenStore, StoreSubject } from '../../conformance/subject.js'
