export type { BusyOptions } from '../busy-options.js'
export type { IoRedisClient, NodeRedisClient, RedisClient } from '../redis-client.js'
export {
  type RedisTransaction,
  type RedisVersionStoreOptions,
  redisDefaults,
  redisVersionStore,
} from '../redis-version-store.js'
