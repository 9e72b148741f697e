export { createKoaHandler } from '../adapters/koa.js'
