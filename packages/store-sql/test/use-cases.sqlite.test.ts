import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSqliteStore } from '../src/exports/sqlite.js'
import { severalUpdates } from './several-updates.js'
import { useCaseRaces } from './use-case-races.js'
import { useCases } from './use-cases.js'

const open = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pi-use-cases-'))
  const store = createSqliteStore({ path: join(folder, 'store.db') })
  await store.migrate()
  return {
    store,
    async close() {
      await store.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
useCases('SQLite', open)
severalUpdates('SQLite', open)
useCaseRaces('SQLite', open)
