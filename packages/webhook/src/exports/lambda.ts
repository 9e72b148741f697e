export { HandlerError } from '../adapters/handler-error.js'
export type { HandlerOptions, IncomingDelivery, Refused } from '../adapters/handler-options.js'
export {
  type LambdaContextLike,
  type LambdaEventLike,
  type LambdaHandler,
  type LambdaResult,
  lambdaHandler,
} from '../adapters/lambda.js'
