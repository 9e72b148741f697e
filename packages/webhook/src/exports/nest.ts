export { HandlerError } from '../adapters/handler-error.js'
export type { HandlerOptions, IncomingDelivery, Refused } from '../adapters/handler-options.js'
export { nestHandler } from '../adapters/nest.js'
export type { NodeHandler, NodeRequest, NodeResponse } from '../adapters/node-types.js'
