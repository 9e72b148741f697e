import { describeRedis, redisConformance } from './redis-suite.js'

describeRedis((redis) => redisConformance('ioredis', redis, redis))
