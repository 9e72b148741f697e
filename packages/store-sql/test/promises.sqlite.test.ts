import { afterAll, afterEach, beforeAll, describe } from 'vitest'
import { createSqliteEngine } from '../src/sqlite/create-sqlite-store.js'
import { createFile } from '../src/sqlite/sqlite-file.js'
import { identityPromises } from './support/identity-promises.js'
import { type CopiedFiles, copiedOnSqlite } from './support/migrated-databases.js'

describe('identity on SQLite', async () => {
  const closing: (() => Promise<void>)[] = []
  let files: CopiedFiles
  beforeAll(async () => {
    files = await copiedOnSqlite()
  })
  afterEach(async () => {
    for (const close of closing.splice(0)) await close()
  })
  afterAll(() => files?.close())
  await identityPromises('sqlite', async (now) => {
    const { path, remove } = files.make()
    const engine = createSqliteEngine(createFile(path, 5_000), now)
    closing.push(async () => {
      await engine.close()
      remove()
    })
    return engine
  })
})
