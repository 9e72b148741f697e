/**
 * Bundles scripts that tests start as processes, so that they are compiled once. Imports nothing of this package, so
 * that tests of other packages may use it.
 * @module
 */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { build } from 'esbuild'

/** A bundle on disk. */
export interface BundledScript {
  /** The file, which Node runs without flags. */
  readonly path: string
  /** The folder above that of the bundle, as a package is above `src`. */
  readonly folder: string
  remove(): void
}

const root = join(import.meta.dirname, '..', '..', '..', '..')

/** Bundles a script with the sources of the workspace. The caller removes it. @param entry - Its path. */
export async function bundleScript(entry: string): Promise<BundledScript> {
  const folder = mkdtempSync(join(tmpdir(), 'pi-script-'))
  const path = join(folder, 'src', `${basename(entry, '.ts')}.mjs`)
  mkdirSync(join(folder, 'src'))
  // Packages outside the bundle are resolved from the workspace.
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  await build({
    entryPoints: [entry],
    outfile: path,
    bundle: true,
    format: 'esm',
    target: 'node20',
    platform: 'node',
    conditions: ['@payment-integration/source'],
    absWorkingDir: root,
    // Native bindings and WebAssembly cannot be bundled.
    external: ['@photostructure/sqlite', 'better-sqlite3', 'libsql', 'pg-native'],
    banner: {
      js: "import { createRequire as $requireOf } from 'node:module'; const require = $requireOf(import.meta.url);",
    },
    logLevel: 'error',
  })
  return { path, folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
