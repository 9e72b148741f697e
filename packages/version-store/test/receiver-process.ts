/**
 * A receiver as a process of its own. `receiver-process.ts <database> hold-effect` waits in the middle of an effect, `after-commit` waits
 * after the commit, `race` delivers versions 1 to 30 of one payment and prints its decisions. It says `ready` when it waits.
 * @module
 */
import { memoryUsage } from 'node:process'
import { sqliteVersionStore } from '../src/exports/sqlite.js'
import { drivers, openReceiverDatabase } from './drivers.js'

const [path = '', mode = ''] = process.argv.slice(2)
const database = openReceiverDatabase(drivers[0].open, path)
const store = sqliteVersionStore({ database })
const payment = { integrationAddress: `0x${'a1'.repeat(20)}`, chainId: '1', txHash: `0x${'b2'.repeat(32)}` }
const note = (version: number) => void database.prepare('INSERT INTO notes (note) VALUES (?)').run(`${version}`)
const say = (line: string) => process.stdout.write(`${line}\n`)
/** Keeps the process alive until it is killed. */
const hang = () => new Promise<void>(() => setInterval(memoryUsage, 60_000))

if (mode === 'hold-effect') {
  await store.advance({ ...payment, version: 2 }, async () => {
    note(2)
    say('ready')
    await hang()
  })
} else if (mode === 'after-commit') {
  await store.advance({ ...payment, version: 2 }, () => note(2))
  say('ready')
  await hang()
} else {
  for (let version = 1; version <= 30; version++) {
    const decision = await store.advance({ ...payment, version }, async () => {
      note(version)
      await new Promise((resolve) => setTimeout(resolve, 1))
    })
    say(`${version} ${decision}`)
  }
  database.close()
}
