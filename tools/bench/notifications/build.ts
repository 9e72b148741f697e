/**
 * Bundles the measured processes like a release. A loader that runs sources adds a cost per function to keep its name,
 * which would distort the comparison.
 *
 * @module
 */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = join(import.meta.dirname, '../../..')
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
  await addAssets(join(folder, 'assets'))
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  return {
    pathOf: (script) => join(folder, `${script}.mjs`),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** The files that the console's pages load, where its built code looks for them. */
async function addAssets(folder: string): Promise<void> {
  const path = join(root, 'packages', 'console', 'scripts', 'bundle-assets.mjs')
  const { bundleAssets } = (await import(pathToFileURL(path).href)) as {
    bundleAssets(): Promise<{ readonly script: string; readonly style: string }>
  }
  const { script, style } = await bundleAssets()
  await mkdir(folder)
  await Promise.all([writeFile(join(folder, 'console.js'), script), writeFile(join(folder, 'console.css'), style)])
}
