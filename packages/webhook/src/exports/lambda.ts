export { createLambdaHandler, type LambdaEventLike, type LambdaHandler } from '../adapters/lambda.js'
