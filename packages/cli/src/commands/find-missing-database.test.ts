import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../test/temporary-folder.js'
import { findMissingDatabase } from './find-missing-database.js'

const inFolder = (...names: string[]) => join(temporaryFolder(), ...names)
const sqlite = (path: string) => ({ kind: 'sqlite', path }) as const
const refusal = { name: 'DatabaseMissingError', code: 'ERR_DATABASE_MISSING' }

describe('findMissingDatabase', () => {
  it('returns the path of a missing file that may be created, and leaves that to the store', async () => {
    const path = inFolder('service.db')
    expect(await findMissingDatabase(sqlite(path), true)).toBe(path)
    expect(existsSync(path)).toBe(false)
  })

  it('refuses a missing file otherwise and names its whole path', async () => {
    const path = inFolder('service.db')
    await expect(findMissingDatabase(sqlite(path), false)).rejects.toMatchObject({
      ...refusal,
      message: expect.stringContaining(`There is no database at ${path}.`),
    })
  })

  it.each([true, false])('returns null for a file that exists (may create: %s)', async (mayCreate) => {
    const path = inFolder('service.db')
    writeFileSync(path, '')
    expect(await findMissingDatabase(sqlite(path), mayCreate)).toBeNull()
  })

  it('refuses a path through a folder or a file that cannot hold it, when it may not create', async () => {
    const file = inFolder('file')
    writeFileSync(file, '')
    for (const path of [inFolder('no', 'such', 'folder.db'), join(file, 'x.db')])
      await expect(findMissingDatabase(sqlite(path), false)).rejects.toMatchObject(refusal)
  })

  it('looks for no file of a server', async () => {
    const database = { kind: 'postgres', connectionString: 'postgres://127.0.0.1/none' } as const
    expect(await findMissingDatabase(database, false)).toBeNull()
  })
})
