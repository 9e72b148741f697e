/**
 * A receiver in its own process: `receiver-process.ts <engine> <address> <mode>`. Its effect writes one note, the
 * version's number. `hold-effect` prints `ready` in the middle of an effect, `after-commit` after a commit.
 * `race` delivers versions 1 to 30 and ends. `stream` delivers one version after the other, from a given one.
 * The last two print their decisions.
 * @module
 */
import { memoryUsage } from 'node:process'
import { openEngine } from './engines.js'

const [name = '', address = '', mode = '', from = '1'] = process.argv.slice(2)
const { deliver, close } = await openEngine(name, address)
/** Resolves when the line has left the process: a buffered line would be lost with a killed process. */
const say = (line: string) => new Promise<void>((resolve) => process.stdout.write(`${line}\n`, () => resolve()))
/** Keeps the process alive until it is killed. */
const hang = () => new Promise<void>(() => setInterval(memoryUsage, 60_000))

if (mode === 'hold-effect') {
  await deliver(2, async () => {
    await say('ready')
    await hang()
  })
} else if (mode === 'after-commit') {
  await deliver(2)
  await say('ready')
  await hang()
} else {
  const last = mode === 'race' ? 30 : Number.MAX_SAFE_INTEGER
  const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 1))
  for (let version = Number(from); version <= last; version++)
    await say(`${version} ${await deliver(version, mode === 'race' ? pause : undefined)}`)
  await close()
}
