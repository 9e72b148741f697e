/** A configuration on a SQLite file in a folder of its own. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../src/config/read-config.js'

export async function tempConfig(env: Record<string, string> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'payment-integration-server-'))
  const config = readConfig({
    PI_ENV: 'development',
    PI_PORT: '0',
    PI_LOG_LEVEL: 'silent',
    PI_DATABASE_URL: `sqlite:${join(folder, 'test.db')}`,
    PI_MASTER_KEY: randomBytes(32).toString('hex'),
    PI_SHUTDOWN_TIMEOUT_MS: '5000',
    ...env,
  })
  return { config, remove: () => rm(folder, { recursive: true, force: true }) }
}
