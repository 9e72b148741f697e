/**
 * Names the repository in the manifest of every package, as npm wants it for a statement of provenance. Usage: node
 * tools/scripts/release/set-repository.mjs <address of the repository, https> Exit code 0 when done, 2 when misused.
 * @module
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [address] = process.argv.slice(2)
if (!/^https:\/\/[^\s/]+\/\S+$/.test(address ?? '')) {
  console.error('Usage: node tools/scripts/release/set-repository.mjs https://<host>/<owner>/<name>')
  process.exit(2)
}
const url = `git+${address.replace(/([.]git)?\/?$/, '')}.git`
const packages = join(import.meta.dirname, '../../../packages')
for (const folder of readdirSync(packages)) {
  const file = join(packages, folder, 'package.json')
  if (!existsSync(file)) continue
  const manifest = JSON.parse(readFileSync(file, 'utf8'))
  manifest.repository = { type: 'git', url, directory: `packages/${folder}` }
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`)
}
