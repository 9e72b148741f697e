export { createNestHandler } from '../adapters/nest.js'
