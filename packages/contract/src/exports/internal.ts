/** For the packages of this workspace alone: any release may change these names. @module */
export {
  deliveryStreamPath,
  type StreamedDeliveryBody,
  type StreamReady,
  streamEvents,
  streamedDeliverySchema,
  streamReadySchema,
} from '../delivery-stream.js'
export {
  identityMisconfiguredBody,
  identityUnavailableBody,
  kycUnavailableBody,
  notFoundBody,
  sharingDisabledBody,
  tooManyRequestsBody,
  unauthorizedBody,
  unreadableJsonMessage,
} from '../errors.js'
export { emailPattern, shareRejectedMessage, shareResponseWriteSchema } from '../identity.js'
export { lookupWriteSchema, verifyWriteSchema } from '../legacy.js'
export { linkConfigWriteSchema, type OnCompleteAction } from '../legacy-snapshot.js'
export type { Header, Operation, Parameter, Response } from '../openapi/types.js'
export { parseUrl } from '../parse-url.js'
export { pageWriteSchema, paymentWriteSchema } from '../payment.js'
export * as primitives from '../primitives.js'
export { snapshotWriteSchema } from '../snapshot.js'
export {
  type TriggerScenario,
  type TriggerVerdict,
  triggerPath,
  triggerScenarios,
  triggerVerdicts,
} from '../trigger.js'
export { cacheControl, integrationPrefix, jsonContentType } from '../wire.js'
