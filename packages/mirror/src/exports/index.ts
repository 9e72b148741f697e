export type { MirrorDatabase } from '../database.js'
export {
  MirrorError,
  type MirrorErrorCode,
  MirrorTableForeignError,
  MirrorTablesMissingError,
  OtherIntegrationError,
} from '../errors.js'
export type { MirrorStatus } from '../mirror.js'
export { createMirror, type Mirror, mirrorTables } from '../mirror.js'
export type { MirrorEvent, MirrorOptions, MirrorReconciliation } from '../options.js'
export type { MirrorReconcileOptions } from '../reconcile.js'
