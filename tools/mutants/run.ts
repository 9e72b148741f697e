/**
 * `npm run mutants -- [text]`: changes the sources rule by rule, as they are loaded, and shows that a test fails each
 * time. With a text: only mutants whose rule or file contains it. Exits 1 if a mutant survives.
 * @module
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Mutant, mutants } from './mutants.js'

/** Mutants that run at the same time. */
const concurrency = 2

interface Report {
  readonly numFailedTests: number
  readonly testResults: readonly { readonly name: string; readonly status: string }[]
}

const folder = mkdtempSync(join(tmpdir(), 'mutants-'))
let runs = 0

/** Runs test files, with a mutant or without. Resolves null when the run wrote no report. */
function runTests(args: readonly string[], mutant?: Mutant): Promise<Report | null> {
  runs += 1
  const output = join(folder, `${runs}.json`)
  const projects = ['everyday', 'isolated', 'slow'].flatMap((name) => ['--project', name])
  const options = ['--config', 'vitest.workspace.ts', '--reporter=json', `--outputFile=${output}`]
  const child = spawn('npx', ['vitest', 'run', ...projects, ...options, ...args], {
    env: { ...process.env, ...(mutant === undefined ? {} : { MUTANT: JSON.stringify(mutant) }) },
    stdio: 'ignore',
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', () => {
      try {
        resolve(JSON.parse(readFileSync(output, 'utf8')))
      } catch {
        resolve(null)
      }
    })
  })
}

const getTests = ({ test, only }: Mutant) => [test, ...(only === undefined ? [] : ['-t', only])]

async function judge(mutant: Mutant): Promise<'killed' | 'survived' | 'no test ran'> {
  const report = await runTests([...getTests(mutant), '--bail', '1'], mutant)
  if (report === null) return 'no test ran'
  if (report.numFailedTests > 0) return 'killed'
  return report.testResults.every(({ status }) => status === 'passed') ? 'survived' : 'no test ran'
}

/** Test files that fail without any mutant: they would prove nothing. */
async function findFailing(chosen: readonly Mutant[]): Promise<readonly string[]> {
  const mutantsByRun = new Map(chosen.map((mutant) => [getTests(mutant).join(' '), mutant]))
  const wholeFiles = [...mutantsByRun.values()].filter(({ only }) => only === undefined)
  const filteredRuns = [...mutantsByRun.values()].filter(({ only }) => only !== undefined)
  const groups = [...(wholeFiles.length > 0 ? [wholeFiles] : []), ...filteredRuns.map((each) => [each])]
  const failing: string[] = []
  for (const group of groups) {
    const report = await runTests(group.length > 1 ? group.map(({ test }) => test) : group.flatMap(getTests))
    for (const { test } of group) {
      const result = report?.testResults.find(({ name }) => name.endsWith(test))
      if (result?.status !== 'passed') failing.push(test)
    }
  }
  return failing
}

async function main(text: string): Promise<number> {
  const chosen = mutants.filter(({ rule, file }) => rule.includes(text) || file.includes(text))
  const failing = await findFailing(chosen)
  if (failing.length > 0) {
    console.error(`Without a mutant, these fail or do not run: ${failing.join(', ')}`)
    return 1
  }
  const verdicts = new Map<Mutant, string>()
  const waiting = [...chosen]
  const work = async () => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const verdict = await judge(mutant)
      verdicts.set(mutant, verdict)
      console.log(`${verdict.padEnd(11)}  ${mutant.rule} (${mutant.file})`)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  const killed = [...verdicts.values()].filter((verdict) => verdict === 'killed').length
  console.log(`${killed} of ${chosen.length} mutants killed`)
  return killed === chosen.length ? 0 : 1
}

try {
  process.exitCode = await main(process.argv[2] ?? '')
} finally {
  rmSync(folder, { recursive: true })
}
