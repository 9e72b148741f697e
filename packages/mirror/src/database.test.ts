import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { createSqliteDriver } from './database.js'

test.each([
  ['of this realm', new Error('database is locked')],
  ['of another realm', runInNewContext("new Error('database is locked')")],
  ['of another realm, by its code', runInNewContext("Object.assign(new Error('x'), { code: 'SQLITE_BUSY' })")],
  ['of another realm, by its number', runInNewContext("Object.assign(new Error('x'), { errcode: 517 })")],
])('a statement waits for a lock that an error %s reports', async (_case, error) => {
  let attempts = 0
  const all = () => {
    attempts += 1
    if (attempts < 3) throw error
    return [{ a: 1 }]
  }
  const database = { exec: () => undefined, prepare: () => ({ all }) }
  const clock = { sleep: async () => undefined, now: () => 0 }
  const driver = createSqliteDriver(database as never, { busyTimeoutMs: 1, clock })
  expect(await driver.query('SELECT 1 AS a')).toEqual([{ a: 1 }])
  expect(attempts).toBe(3)
})
