/** Bundles the process once, since it starts hundreds of times. @module */
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import type { BuiltProcess } from '../chaos/build-process.js'

const root = join(import.meta.dirname, '../../..')

/** Builds `service-process.ts` from the sources of the workspace. */
export async function buildCrashProcess(): Promise<BuiltProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'payment-crash-build-'))
  const path = join(folder, 'service.mjs')
  await build({
    entryPoints: [join(import.meta.dirname, 'service-process.ts')],
    outfile: path,
    bundle: true,
    format: 'esm',
    target: 'node20',
    platform: 'node',
    minifySyntax: true,
    conditions: ['@payment-integration/source'],
    absWorkingDir: root,
    // SQLite's native binding is a separate file.
    external: ['@photostructure/sqlite', 'pg-native'],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'error',
    plugins: [probesInBinding],
  })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  return { path, remove: () => rm(folder, { recursive: true, force: true }) }
}

/** Replaces the store's binding of SQLite by `probed-sqlite.ts`. */
const probesInBinding: Plugin = {
  name: 'probes in the binding',
  setup({ onResolve }) {
    const probed = join(import.meta.dirname, 'probed-sqlite.ts')
    onResolve({ filter: /[/]binding[.]js$/ }, ({ importer }) => (importer === probed ? undefined : { path: probed }))
  },
}
