import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe } from 'vitest'
import { redisMissing, startRedis, type TestRedis } from './redis-server.js'
import { redisConformance } from './redis-suite.js'

describe.skipIf(redisMissing !== null)(`Redis${redisMissing === null ? '' : ` (${redisMissing})`}`, () => {
  let server: TestRedis
  let redis: Redis
  beforeAll(async () => {
    server = await startRedis()
    redis = new Redis(server.path)
  })
  afterAll(async () => {
    redis?.disconnect()
    await server?.remove()
  })

  const client = () => redis
  redisConformance('ioredis', client, client)
})
