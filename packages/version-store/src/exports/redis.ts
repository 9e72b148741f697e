export {
  createRedisVersionStore,
  type IoRedisClient,
  type NodeRedisClient,
  type RedisClient,
  type RedisTransaction,
  type RedisVersionStoreOptions,
  redisDefaults,
} from '../redis-version-store.js'
