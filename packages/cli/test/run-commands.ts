import { join } from 'node:path'
import { Readable } from 'node:stream'
import { openSqlite } from '../src/files.js'
import { runCli } from '../src/run-cli.js'
import { testMasterKey } from './master-key.js'
import { temporaryFolder } from './temporary-folder.js'
import { testIo } from './test-io.js'

/** Runs commands of one group on a new database, with further variables. */
export function getCommands(group: string, variables: Record<string, string> = {}) {
  const path = join(temporaryFolder(), 'service.db')
  const env = { PI_DATABASE_URL: `sqlite:${path}`, PI_MASTER_KEY: testMasterKey, ...variables }
  async function runOn(input: string, ...args: string[]) {
    const io = testIo({ env, input: () => Readable.from([Buffer.from(input)]) })
    const exitCode = await runCli(args, io)
    return { exitCode, lines: io.lines, out: io.lines.join('\n'), err: io.errors.join('\n'), io }
  }
  return {
    path,
    env,
    /** Runs a command of the group. */
    run: (...args: string[]) => runOn('', group, ...args),
    /** Runs a command of the group with a text on standard input. */
    runWith: (input: string, ...args: string[]) => runOn(input, group, ...args),
    /** Creates the database with only a legacy API key. */
    make: () => runOn('', 'legacy-keys', 'create'),
    /** Runs statements on the database. */
    sql(statements: string) {
      const database = openSqlite(path)
      database.exec(statements)
      database.close()
    },
  }
}
