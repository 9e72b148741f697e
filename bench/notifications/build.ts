/**
 * Bundles the measured processes like a release. A loader that runs sources adds a cost per function to keep its name,
 * which would distort the comparison.
 *
 * @module
 */
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'

const root = join(import.meta.dirname, '..', '..')
const scripts = {
  receiver: 'receiver.ts',
  floor: 'floor.ts',
  ours: 'ours.ts',
  peer: 'peer.ts',
  served: '../console/served.ts',
} as const

/** Names of the bench's processes. */
export type Script = keyof typeof scripts

/** Bundles on disk. */
export interface BuiltScripts {
  pathOf(script: Script): string
  remove(): Promise<void>
}

/** Builds them from the sources of the workspace. */
export async function buildScripts(): Promise<BuiltScripts> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-build-'))
  await build({
    entryPoints: Object.fromEntries(
      Object.entries(scripts).map(([name, path]) => [name, join(import.meta.dirname, path)]),
    ),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    target: 'node20',
    platform: 'node',
    conditions: ['@payment-integration/source'],
    absWorkingDir: root,
    external: ['@photostructure/sqlite', 'pg-native'],
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    logLevel: 'error',
  })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  return {
    pathOf: (script) => join(folder, `${script}.mjs`),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
