/** Runs the verifiers of other languages over the vectors; a language whose command is missing is named. @module */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const here = import.meta.dirname
const file = join(here, '../signature.json')
const built = mkdtempSync(join(tmpdir(), 'verifiers-'))
const cases = JSON.parse(readFileSync(file, 'utf8'))
const encoded = (/** @type {string} */ text) => Buffer.from(text).toString('base64')
const lines = cases.map((/** @type {any} */ each) =>
  [
    each.secrets.map(encoded).join(','),
    each.header === null ? '-' : encoded(each.header),
    each.body,
    each.nowMs,
    each.toleranceSeconds,
    each.expect === 'ok' ? `ok ${each.secretIndex}` : each.expect,
  ].join('\t'),
)

/** Commands of each language, one after the other. */
const languages = {
  python: [['python3', '-B', 'python/check.py', file]],
  ruby: [['ruby', 'ruby/check.rb', file]],
  php: [['php', 'php/check.php', file]],
  go: [['go', 'run', 'go/verify.go', 'go/check.go', file]],
  java: [
    ['javac', '-d', built, 'java/Verifier.java', 'java/Check.java'],
    ['java', '-cp', built, 'Check'],
  ],
}

/** How many languages have run, and which of them were wrong. */
const wrong = []
let ran = 0
for (const [language, commands] of Object.entries(languages)) {
  const results = commands.map(([command = '', ...args]) =>
    spawnSync(command, args, { cwd: here, input: lines.join('\n'), encoding: 'utf8' }),
  )
  const missing = results.some(({ error }) => error !== undefined && 'code' in error && error.code === 'ENOENT')
  const output = results
    .map(({ stdout, stderr }) => `${stdout ?? ''}${stderr ?? ''}`)
    .join('')
    .trim()
  console.log(`${language}: ${missing ? 'its command is not on this machine' : output}`)
  if (missing) continue
  ran++
  if (results.some(({ status }) => status !== 0)) wrong.push(language)
}
rmSync(built, { recursive: true })
process.exitCode = wrong.length > 0 || ran === 0 ? 1 : 0
