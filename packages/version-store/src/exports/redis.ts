export {
  createRedisVersionStore,
  type RedisClient,
  type RedisTransaction,
  type RedisVersionStoreOptions,
} from '../redis-version-store.js'
