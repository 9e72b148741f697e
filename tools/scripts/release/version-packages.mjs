/**
 * Gives all packages their next version, and writes their changelogs from the changesets.
 * Usage: npm run version-packages. Exit code 0 when done.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../../..')
const manifests = readdirSync(join(root, 'packages')).map((name) => join(root, 'packages', name, 'package.json'))

/** Gives every peer among the packages the range that `getRange` makes of the version. */
function setPeers(getRange) {
  for (const file of manifests) {
    const manifest = JSON.parse(readFileSync(file, 'utf8'))
    const peers = Object.keys(manifest.peerDependencies ?? {}).filter((name) =>
      name.startsWith('@payment-integration/'),
    )
    for (const name of peers) manifest.peerDependencies[name] = getRange(manifest.version)
    if (peers.length > 0) writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`)
  }
}

const run = (command, ...args) => execFileSync(command, args, { cwd: root, stdio: 'inherit' })

// A new version outside a peer's range counts as a breaking change; before 1.0 each minor release would be outside.
setPeers(() => '*')
try {
  run('npx', 'changeset', 'version')
} finally {
  setPeers((version) => version)
}
run('npx', 'biome', 'format', '--write', 'packages', 'examples')
run('npm', 'install', '--package-lock-only', '--ignore-scripts')
