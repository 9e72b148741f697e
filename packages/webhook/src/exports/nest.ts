export { createNestHandler } from '../adapters/node.js'
