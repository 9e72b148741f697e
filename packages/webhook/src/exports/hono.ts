export { createHonoHandler } from '../adapters/hono.js'
