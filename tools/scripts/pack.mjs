/**
 * Builds packages, with the workspace packages they need, and packs them into one folder. Usage: npm run pack --
 * [package ...] [--to <folder>]. Without names, it packs what a project of `payment-integration init` installs.
 * @module
 */
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { run } from './packages/run.mjs'

const root = join(import.meta.dirname, '../..')
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { to: { type: 'string', default: 'release/packed' } },
})
// npm runs a script in the root of the workspace, but a relative folder starts where npm was called.
const folder = resolve(process.env['INIT_CWD'] ?? root, values.to)
const existing = await readdir(join(root, 'packages'))
const chosen = positionals.length > 0 ? positionals : ['webhook', 'version-store', 'client', 'testing']
const unknown = chosen.filter((name) => !existing.includes(name))
if (unknown.length > 0) {
  console.error(`No package ${unknown.join(', ')}; there are ${existing.join(', ')}.`)
  process.exit(2)
}

const needed = new Set()
for (const name of chosen) await addNeeded(name)
console.log(`Building ${[...needed].join(', ')}`)
await npm('run', 'build', '--', ...needed)
await mkdir(folder, { recursive: true })
await npm('pack', '--pack-destination', folder, ...[...needed].map((name) => `--workspace=packages/${name}`))
const here = relative(process.env['INIT_CWD'] ?? root, folder) || '.'
console.log(`Packed into ${here}:\n${(await readdir(folder)).map((file) => `  ${file}`).join('\n')}`)
console.log(`In a project: npm install ${here}/*.tgz, or payment-integration init <framework> --from ${here}`)

/** Adds a package after those that it depends on; optional peers are left to whoever uses them. @param {string} name */
async function addNeeded(name) {
  if (needed.has(name)) return
  const manifest = JSON.parse(await readFile(join(root, 'packages', name, 'package.json'), 'utf8'))
  const peers = Object.keys(manifest.peerDependencies ?? {}).filter(
    (peer) => !manifest.peerDependenciesMeta?.[peer]?.optional,
  )
  for (const other of [...Object.keys(manifest.dependencies ?? {}), ...peers])
    if (other.startsWith('@payment-integration/')) await addNeeded(other.replace('@payment-integration/', ''))
  needed.add(name)
}

/** Runs npm in the workspace; its output is shown when it fails. @param {string[]} args */
async function npm(...args) {
  const { code, stdout, stderr } = await run('npm', args, { cwd: root })
  if (code === 0) return
  console.error(stdout + stderr)
  process.exit(1)
}
