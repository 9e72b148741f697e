export { createNodeHandler } from '../adapters/node.js'
