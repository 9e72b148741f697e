import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test, vi } from 'vitest'

const root = join(import.meta.dirname, '../..')
const folders = readdirSync(join(root, 'tools/environments'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
const read = (folder: string, file: string) => readFileSync(join(root, 'tools/environments', folder, file), 'utf8')

/** Evaluates a module beside the runner's own, and resolves what it printed. */
async function evaluate(code: string): Promise<string> {
  const flags = ['--input-type=module', '--eval', code]
  return (await promisify(execFile)(process.execPath, flags, { cwd: join(root, 'tools/scripts') })).stdout.trim()
}

test.each(folders)('%s pins exact versions, and its lock file names no registry', (folder) => {
  const { private: isPrivate, dependencies, optionalDependencies } = JSON.parse(read(folder, 'package.json'))
  expect(isPrivate).toBe(true)
  for (const [name, version] of Object.entries({ ...dependencies, ...optionalDependencies }))
    expect(`${name} ${version}`).toMatch(/ (npm:[\w-]+@)?\d+\.\d+\.\d+$/)
  const lock = read(folder, 'package-lock.json')
  expect(lock).not.toContain('"resolved"')
  expect(lock).toContain('"lockfileVersion": 3')
})

test('an environment has the versions that the packages require', () => {
  const dependencies = readdirSync(join(root, 'packages')).flatMap((folder) => {
    const manifest = JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8'))
    return Object.entries<string>({ ...manifest.dependencies, ...manifest.optionalDependencies })
  })
  const versions = new Map(dependencies)
  for (const folder of ['integrator', 'service']) {
    const { dependencies, optionalDependencies } = JSON.parse(read(folder, 'package.json'))
    for (const [name, version] of Object.entries({ ...dependencies, ...optionalDependencies }))
      expect(`${folder} ${name} ${version}`).toBe(`${folder} ${name} ${versions.get(name) ?? version}`)
  }
})

test('a program that takes too long is killed with its child processes', async () => {
  const program = [
    "const { spawn } = require('node:child_process')",
    "const inner = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' })",
    'console.log(JSON.stringify([process.pid, inner.pid]))',
    'setInterval(() => {}, 1000)',
  ].join(';')
  const code = [
    "import { run } from './environments/child.mjs'",
    `const ended = await run(process.execPath, ['--eval', ${JSON.stringify(program)}], { seconds: 2 })`,
    'console.log(JSON.stringify(ended))',
  ].join('\n')
  const { timedOut, stdout } = JSON.parse(await evaluate(code))
  expect(timedOut).toBe(true)
  const pids: number[] = JSON.parse(stdout)
  expect(pids).toHaveLength(2)
  const isGone = (pid: number) => {
    try {
      process.kill(pid, 0)
      return false
    } catch {
      return true
    }
  }
  await vi.waitUntil(() => pids.every(isGone), { timeout: 300_000, interval: 20 })
})

test('a table has a line per runtime, and distinguishes failed, skipped and missing checks', async () => {
  const results = [
    { group: 'g', row: 'a', column: 'x', verdict: 'ok', detail: '3 equal' },
    { group: 'g', row: 'a', column: 'y', verdict: 'FAILED', detail: 'why' },
    { group: 'g', row: 'b', column: 'x', verdict: 'skipped', detail: 'absent' },
  ]
  const code = [
    "import { formatCounts, formatTables } from './environments/results.mjs'",
    `const results = ${JSON.stringify(results)}`,
    "console.log([...formatTables(results), formatCounts(results)].join('\\n'))",
  ].join('\n')
  expect((await evaluate(code)).split('\n')).toEqual([
    'g  x        y',
    'a  3 equal  FAILED',
    'b  skipped  -',
    '1 passed, 1 failed, 1 skipped',
  ])
})

test('an unknown group is reported, and nothing is installed', async () => {
  const script = join(root, 'tools/scripts/environments.mjs')
  const call = promisify(execFile)(process.execPath, [script, 'runtime'])
  await expect(call).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('No group runtime') })
})
