/** Measures how soon the command answers: the built one, and `npm start` from the sources. @module */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median, round, type Table } from './report.js'

const root = join(import.meta.dirname, '../..')
const built = join(root, 'packages/cli/dist/bin.js')
/** Preloaded into each process: writes processor time and peak memory as JSON to the file `USAGE_FILE` at its exit. */
const reporter = `data:text/javascript,${encodeURIComponent(`
import { writeFileSync } from 'node:fs'
process.once('exit', () => {
  const { user, system } = process.cpuUsage()
  const { maxRSS } = process.resourceUsage()
  writeFileSync(process.env.USAGE_FILE, JSON.stringify({ cpuMs: (user + system) / 1_000, peakMiB: maxRSS / 1_024 }))
})`)}`
const address = '0x1111111111111111111111111111111111111111'

/** A command to start: its arguments for `node`, and the output that ends the wait. @default its exit ends the wait */
interface Command {
  readonly name: string
  args(run: number): readonly string[]
  readonly until?: RegExp
  readonly env?: Readonly<Record<string, string>>
}

interface Usage {
  readonly wallMs: number
  readonly cpuMs: number
  readonly peakMiB: number
}

/** Starts every command `rounds` times, in turns. Without a build, the built commands are left out. */
export async function benchStart({ rounds }: { readonly rounds: number }): Promise<Table[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-start-'))
  const env = { PI_MASTER_KEY: randomBytes(32).toString('hex') }
  const database = (run: number) => `sqlite:${join(folder, `${run}.db`)}`
  const builtCommands: readonly Command[] = [
    { name: '`payment-integration --version`', args: () => [built, '--version'] },
    {
      name: '`payment-integration integrations create`, with a new database',
      args: (run) => [built, 'integrations', 'create', address, '--database', database(run)],
      env,
    },
    {
      name: '`payment-integration serve`, until it listens',
      args: (run) => [built, 'serve', '--database', database(run), '--port', '0'],
      until: /"Listening\./,
      env,
    },
  ]
  const commands: readonly Command[] = [
    { name: '`node -e 0`, the floor', args: () => ['-e', '0'] },
    ...(existsSync(built) ? builtCommands : []),
    {
      name: 'what `npm start` runs, until the first verified payment',
      args: () => [join(root, 'tools/scripts/run-source.mjs'), 'dev', '--until-idle', '--payments', '1', '--json'],
      until: /"payment\.verified"/,
    },
  ]
  const usages = new Map<string, Usage[]>(commands.map(({ name }) => [name, []]))
  try {
    for (let run = 0; run < rounds; run += 1)
      for (const command of commands) usages.get(command.name)?.push(await measure(command, run, folder))
    return [buildTable(rounds, usages)]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Processor time is that of the whole process, its stop included. */
async function measure(command: Command, run: number, folder: string): Promise<Usage> {
  const file = join(folder, 'usage.json')
  await rm(file, { force: true })
  const startedAt = performance.now()
  const child = spawn(process.execPath, ['--import', reporter, ...command.args(run)], {
    env: { ...process.env, NODE_OPTIONS: '', ...command.env, USAGE_FILE: file },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  let printed = ''
  let reachedAt = 0
  const onOutput = (chunk: string) => {
    printed += chunk
    if (reachedAt > 0 || command.until?.test(printed) !== true) return
    reachedAt = performance.now()
    child.kill('SIGTERM')
  }
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', onOutput)
  await exited
  if (command.until === undefined && child.exitCode === 0) reachedAt = performance.now()
  if (reachedAt === 0) throw new Error(`${command.name} ended with ${child.exitCode} too early: ${printed}`)
  const used = JSON.parse(await readFile(file, 'utf8')) as Omit<Usage, 'wallMs'>
  return { ...used, wallMs: reachedAt - startedAt }
}

function buildTable(rounds: number, usagesByName: ReadonlyMap<string, readonly Usage[]>): Table {
  const getMedian = (usages: readonly Usage[], key: keyof Usage) => median(usages.map((usage) => usage[key]))
  const floor = getMedian([...usagesByName.values()][0] ?? [], 'cpuMs')
  return {
    title: 'Starting',
    columns: ['', 'ms', 'processor time, ms', 'peak, MiB', 'processor time against the floor'],
    rows: [...usagesByName].map(([name, usages]) => [
      name,
      ...(['wallMs', 'cpuMs', 'peakMiB'] as const).map((key) => round(getMedian(usages, key))),
      round(getMedian(usages, 'cpuMs') / floor, 1),
    ]),
    notes: [`Medians of ${rounds} starts.`],
  }
}
