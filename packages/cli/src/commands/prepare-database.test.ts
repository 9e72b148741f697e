import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../test/temporary-folder.js'
import { prepareDatabase } from './prepare-database.js'

const inFolder = (...names: string[]) => join(temporaryFolder(), ...names)
const sqlite = (path: string) => ({ kind: 'sqlite', path }) as const
const refusal = { name: 'DatabaseMissingError', code: 'ERR_DATABASE_MISSING' }

describe('prepareDatabase', () => {
  it('makes a missing file when it may, for this user alone, and tells its path', async () => {
    const path = inFolder('service.db')
    expect(await prepareDatabase(sqlite(path), true)).toBe(path)
    expect(statSync(path).size).toBe(0)
    if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('refuses a missing file otherwise, names its whole path, and makes nothing', async () => {
    const path = inFolder('service.db')
    await expect(prepareDatabase(sqlite(path), false)).rejects.toMatchObject({
      ...refusal,
      message: expect.stringContaining(`There is no database at ${path}.`),
    })
    expect(existsSync(path)).toBe(false)
  })

  it.each([true, false])('leaves a file that is there as it is (may create: %s)', async (mayCreate) => {
    const path = inFolder('service.db')
    writeFileSync(path, 'what it holds', { mode: 0o640 })
    expect(await prepareDatabase(sqlite(path), mayCreate)).toBeNull()
    expect(statSync(path)).toMatchObject({ size: 13, mode: expect.any(Number) })
    if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o640)
  })

  it('refuses a path through a folder or a file that cannot hold it, when it may not create', async () => {
    const file = inFolder('file')
    writeFileSync(file, '')
    for (const path of [inFolder('no', 'such', 'folder.db'), join(file, 'x.db')])
      await expect(prepareDatabase(sqlite(path), false)).rejects.toMatchObject(refusal)
  })

  it('leaves a folder that is missing to whoever opens the file', async () => {
    expect(await prepareDatabase(sqlite(inFolder('no', 'such', 'folder.db')), true)).toBeNull()
  })

  it('looks for no file of a server', async () => {
    const database = { kind: 'postgres', connectionString: 'postgres://127.0.0.1/none' } as const
    expect(await prepareDatabase(database, false)).toBeNull()
  })
})
