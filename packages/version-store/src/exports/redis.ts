export type { IoRedisClient, NodeRedisClient, RedisClient } from '../redis-client.js'
export {
  createRedisVersionStore,
  type RedisTransaction,
  type RedisVersionStoreOptions,
  redisDefaults,
} from '../redis-version-store.js'
