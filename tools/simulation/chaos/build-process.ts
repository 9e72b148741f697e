/** Bundles the process once, since it starts hundreds of times. @module */
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'tsup'

const root = join(import.meta.dirname, '../../..')

/** A bundle on disk. */
export interface BuiltProcess {
  readonly path: string
  remove(): Promise<void>
}

/** Builds `service-process.ts` from the sources of the workspace. */
export async function buildProcess(): Promise<BuiltProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'payment-chaos-build-'))
  await build({
    config: false,
    silent: true,
    entry: { service: join(import.meta.dirname, 'service-process.ts') },
    outDir: folder,
    format: ['esm'],
    target: 'node20',
    platform: 'node',
    removeNodeProtocol: false,
    splitting: false,
    dts: false,
    outExtension: () => ({ js: '.mjs' }),
    // Only SQLite's native binding stays outside the bundle: it is a separate file.
    noExternal: [/^(?!@photostructure[/]sqlite|pg-native)/],
    external: ['@photostructure/sqlite', 'pg-native'],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" },
    esbuildOptions(options) {
      options.conditions = ['@payment-integration/source']
      options.absWorkingDir = root
    },
  })
  // Packages from npm are found where the workspace has them.
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  return { path: join(folder, 'service.mjs'), remove: () => rm(folder, { recursive: true, force: true }) }
}
