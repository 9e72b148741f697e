export type { RedisClient, RedisTransaction, RedisVersionStoreOptions } from '../redis-version-store.js'
export { createRedisVersionStore } from '../redis-version-store.js'
