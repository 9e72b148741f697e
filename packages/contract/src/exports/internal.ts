/** For the packages of this workspace alone: any release may change these names. @module */
export {
  formatUnreadableJson,
  identityMisconfiguredBody,
  identityUnavailableBody,
  notFoundBody,
  sharingDisabledBody,
  tooManyRequestsBody,
  unauthorizedBody,
  verificationUnavailableBody,
} from '../error-bodies.js'
export { parseUrl } from '../foreign-text.js'
export { healthSchema } from '../health.js'
export { emailPattern, formatShareRejection, shareResponseWriteSchema } from '../identity.js'
export {
  deliveryStreamPath,
  type StreamedDeliveryBody,
  type StreamReady,
  streamEvents,
  streamedDeliverySchema,
  streamReadySchema,
  type TriggerScenario,
  type TriggerVerdict,
  triggerPath,
  triggerScenarios,
  triggerVerdicts,
} from '../internal-endpoints.js'
export { lookupWriteSchema, verifyResponseWriteSchema } from '../legacy.js'
export { linkConfigWriteSchema } from '../legacy-snapshot.js'
export type { Header, Operation, Parameter, Response } from '../openapi/parts.js'
export { pageWriteSchema, paymentWriteSchema } from '../payment.js'
export * as primitives from '../primitives.js'
export { snapshotWriteSchema } from '../snapshot.js'
export { cacheControl, integrationPrefix, jsonContentType } from '../wire.js'
