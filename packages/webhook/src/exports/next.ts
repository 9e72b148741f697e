export { createNextApi, createNextRoute } from '../adapters/next.js'
