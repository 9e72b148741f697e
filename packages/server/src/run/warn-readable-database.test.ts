import { chmodSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { silentLogger } from '@payment-integration/core'
import { describe, expect, test } from 'vitest'
import { getTempConfig } from '../../test/support/temp-server.js'
import { startServer } from './start-server.js'

/** Starts on a file of this mode, null for a missing one. Returns the warnings about it, and the mode afterwards. */
async function startOn(mode: number | null) {
  const config = await getTempConfig()
  const { database } = config
  if (database.kind !== 'sqlite') return expect.unreachable('the configuration of tests is on SQLite')
  const { path } = database
  if (mode !== null) {
    writeFileSync(path, '')
    chmodSync(path, mode)
  }
  const warned: string[] = []
  const warn = (_: object, message: string) => void warned.push(message)
  await (await startServer(config, { logger: { ...silentLogger, warn } })).stop()
  const warnings = warned.filter((each) => each.includes('chmod'))
  return { path: realpathSync(path), warnings, after: statSync(path).mode & 0o777 }
}

// Windows has no such modes.
describe.skipIf(process.platform === 'win32')('the mode of the database', () => {
  test.each([0o644, 0o666, 0o602])(
    '%i (decimal), which gives other users access, is warned about at the start and not changed',
    async (mode) => {
      const { path, warnings, after } = await startOn(mode)
      expect(warnings).toEqual([
        `Other users of this machine may open the database. Unless you want that: chmod 600 '${path}' '${path}-wal' '${path}-shm'`,
      ])
      expect(after).toBe(mode)
    },
  )

  test.each([null, 0o600, 0o640, 0o660])(
    '%s (decimal), which gives access to the owner or a group, is not warned about',
    async (mode) => {
      expect((await startOn(mode)).warnings).toEqual([])
    },
  )
})
