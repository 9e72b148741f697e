/**
 * Scripts that tests start as processes, each as one file: what is compiled once need not be compiled again in every
 * process. Uses nothing of this package, so that tests of other packages may import it.
 *
 * @module
 */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { build } from 'esbuild'

/** A bundle on disk. */
export interface BundledScript {
  /** The file for Node: no flags are needed. */
  readonly path: string
  /** The folder above the one in which the bundle lies, as `src` lies in a package. */
  readonly folder: string
  remove(): void
}

const root = join(import.meta.dirname, '..', '..', '..', '..')

/** Bundles a script with the sources of the workspace. The caller removes it. @param entry - Its path. */
export async function bundleScript(entry: string): Promise<BundledScript> {
  const folder = mkdtempSync(join(tmpdir(), 'pi-script-'))
  const path = join(folder, 'src', `${basename(entry, '.ts')}.mjs`)
  mkdirSync(join(folder, 'src'))
  // Packages that are not in the bundle are found where the workspace has them.
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
    // Bindings and WebAssembly are files of their own.
    external: ['@photostructure/sqlite', 'better-sqlite3', 'libsql', 'pg-native'],
    banner: {
      js: "import { createRequire as $requireOf } from 'node:module'; const require = $requireOf(import.meta.url);",
    },
    logLevel: 'error',
  })
  return { path, folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
