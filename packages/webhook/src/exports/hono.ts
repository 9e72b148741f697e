export { createHonoHandler, type HonoContextLike } from '../adapters/hono.js'
