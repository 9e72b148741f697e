import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { getCommands } from '../../test/run-commands.js'
import { temporaryFolder } from '../../test/temporary-folder.js'
import { openSqlite } from '../files.js'

describe('backup', () => {
  it('copies the database for its owner alone, and the copy is whole', async () => {
    const { run, make } = getCommands('backup')
    await make()
    const file = join(temporaryFolder(), 'copy.db')
    const { exitCode, lines } = await run(file, '--json')
    const { size, mode } = statSync(file)
    expect([exitCode, mode & 0o777]).toEqual([0, 0o600])
    expect(JSON.parse(lines[0] ?? '')).toEqual({ event: 'backup', file, bytes: size })
    const copy = openSqlite(file)
    expect(copy.prepare('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
    expect(copy.prepare('select count(*) as n from legacy_keys').all()).toEqual([{ n: 1 }])
    copy.close()
  })

  it('a file that exists is not overwritten', async () => {
    const { run, make } = getCommands('backup')
    await make()
    const file = join(temporaryFolder(), 'copy.db')
    writeFileSync(file, 'mine')
    const { exitCode, err } = await run(file)
    expect([exitCode, err]).toEqual([2, `${file} exists. Name another file, or remove it.`])
    expect(statSync(file).size).toBe(4)
  })

  it('a copy that cannot be written leaves no file', async () => {
    const { run, make, path } = getCommands('backup')
    await make()
    writeFileSync(path, 'no database')
    const folder = temporaryFolder()
    const { exitCode, err } = await run(join(folder, 'copy.db'))
    expect(exitCode).toBe(1)
    expect(err).toContain('could not be written')
    expect(readdirSync(folder)).toEqual([])
  })

  it('of PostgreSQL is misuse, and names what to use', async () => {
    const { run } = getCommands('backup', { PI_DATABASE_URL: 'postgres://a@db.example/p' })
    expect(await run('copy.db')).toMatchObject({ exitCode: 2, err: expect.stringContaining('pg_basebackup') })
  })
})
