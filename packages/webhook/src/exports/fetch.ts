export { createFetchHandler } from '../adapters/fetch.js'
