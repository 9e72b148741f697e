export { createKoaHandler, type KoaContextLike } from '../adapters/koa.js'
