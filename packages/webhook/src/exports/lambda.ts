export {
  createLambdaHandler,
  type LambdaContextLike,
  type LambdaEventLike,
  type LambdaHandler,
  type LambdaResult,
} from '../adapters/lambda.js'
