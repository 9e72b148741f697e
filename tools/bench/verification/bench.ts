/** Compares verifying and rejecting with a floor and with other senders' verifiers. @module */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { median } from '../measure.js'
import { peersMissing } from './peers.js'

/** How much to measure. */
export interface VerificationEffort {
  /** Turns of each case. */
  readonly rounds: number
  /** CPU time of a turn, in microseconds; 0 for 200 calls. */
  readonly sliceUs: number
  /** Processes that import the package, and as many that import only `node:crypto`. */
  readonly imports: number
  readonly seed: number
}

interface Measured {
  readonly name: string
  readonly size: number
  readonly kind: string
  readonly costs: readonly number[]
}

const run = promisify(execFile)
const here = import.meta.dirname
const peersFolder = fileURLToPath(new URL('./peers/', import.meta.url))

/** Bundles like a release, measures, and returns Markdown. */
export async function benchVerification(effort: VerificationEffort): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-verification-'))
  try {
    const measured = await bundle(folder, 'measured', 'node')
    const web = await bundle(folder, 'web', 'browser')
    const { rounds, sliceUs, seed } = effort
    const args = [measured, peersFolder, pathToFileURL(web).href, rounds, sliceUs, seed].map(String)
    const { stdout } = await run(process.execPath, args, { maxBuffer: 64_000_000 })
    const cases = JSON.parse(stdout) as Measured[]
    const missing = peersMissing(peersFolder)
    return [
      acceptTable(cases),
      ...(missing ? [`${missing}\n`] : []),
      refuseTable(cases),
      await importLine(folder, effort.imports),
      `Seed ${seed}.\n`,
    ].join('\n')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function bundle(folder: string, script: string, platform: 'node' | 'browser'): Promise<string> {
  const outfile = join(folder, `${script}.mjs`)
  await build({
    entryPoints: [join(here, `${script}.ts`)],
    outfile,
    bundle: true,
    format: 'esm',
    target: 'node20',
    platform,
    conditions: ['@payment-integration/source'],
    logLevel: 'error',
  })
  return outfile
}

const sizes = [512, 4_096, 65_536]
const heading = (titles: readonly string[]) => [`| ${titles.join(' | ')} |`, `|${' --- |'.repeat(titles.length)}`]
const find = (cases: readonly Measured[], name: string, size: number, kind: string) =>
  cases.find((each) => each.name === name && each.size === size && each.kind === kind)?.costs

/** The median, and its ratio to the floor's: the median of the rounds' ratios. */
function cell(costs: readonly number[] | undefined, floor: readonly number[] | undefined): string {
  if (!costs) return ''
  const ratio = median(costs.map((cost, round) => cost / (floor?.[round] ?? Number.NaN)))
  return `${median(costs).toFixed(2)} (${ratio.toFixed(2)})`
}

function acceptTable(cases: readonly Measured[]): string {
  const names = [...new Set(cases.map(({ name }) => name))]
  const rows = names.map((name) => {
    const cells = sizes.map((size) => cell(find(cases, name, size, 'genuine'), find(cases, 'floor', size, 'genuine')))
    return `| ${[name, ...cells].join(' | ')} |`
  })
  return [
    '### Verifying a genuine delivery, CPU µs (times the floor)',
    '',
    ...heading(['', '0.5 KB', '4 KB', '64 KB']),
    ...rows,
    '',
  ].join('\n')
}

function refuseTable(cases: readonly Measured[]): string {
  const names = [...new Set(cases.filter(({ kind }) => kind !== 'genuine').map(({ name }) => name))]
  const columns = [
    ['malformed', 512],
    ['malformed', 65_536],
    ['stale', 512],
    ['stale', 65_536],
    ['forged', 512],
    ['forged', 65_536],
  ] as const
  const figure = (costs: readonly number[] | undefined) => (costs ? median(costs).toFixed(2) : '')
  const rows = names.map(
    (name) => `| ${[name, ...columns.map(([kind, size]) => figure(find(cases, name, size, kind)))].join(' | ')} |`,
  )
  const titles = columns.map(([kind, size]) => `${kind}, ${size === 512 ? '0.5' : '64'} KB`)
  return ['### Refusing a delivery, CPU µs', '', ...heading(['', ...titles]), ...rows, ''].join('\n')
}

/** Measures an import's CPU time beyond `node:crypto`, in alternating processes that time their own import. */
async function importLine(folder: string, imports: number): Promise<string> {
  const bundled = join(folder, 'package.mjs')
  await build({
    stdin: { contents: "export * from '@payment-integration/webhook'", resolveDir: here },
    outfile: bundled,
    bundle: true,
    format: 'esm',
    target: 'node20',
    platform: 'node',
    conditions: ['@payment-integration/source'],
    logLevel: 'error',
  })
  const alone = join(folder, 'alone.mjs')
  await writeFile(alone, "export * from 'node:crypto'\n")
  const costs: Record<string, number[]> = { [alone]: [], [bundled]: [] }
  for (let turn = 0; turn < imports; turn++)
    for (const path of [alone, bundled]) {
      const code = `const before = process.cpuUsage(); await import(${JSON.stringify(pathToFileURL(path).href)}); const { user, system } = process.cpuUsage(before); console.log(user + system)`
      const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', code])
      costs[path]?.push(Number(stdout) / 1_000)
    }
  const of = (path: string) => median(costs[path] ?? []).toFixed(2)
  return `Importing everything of the package: ${of(bundled)} ms of CPU; \`node:crypto\` alone, the same way: ${of(alone)} ms.\n`
}
