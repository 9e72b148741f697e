export { HandlerError } from '../adapters/handler-error.js'
export type { HandlerOptions, IncomingDelivery, Refused } from '../adapters/handler-options.js'
export { nodeHandler } from '../adapters/node.js'
export type { NodeHandler, NodeRequest, NodeResponse } from '../adapters/node-types.js'
