export { createExpressHandler } from '../adapters/express.js'
