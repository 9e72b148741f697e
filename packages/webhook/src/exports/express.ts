export { createExpressHandler } from '../adapters/node.js'
