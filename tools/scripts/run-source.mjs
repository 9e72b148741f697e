/**
 * Runs the command from the sources, without a build: bundles them with esbuild, which is several times faster than to
 * load some thousand files. Usage: node tools/scripts/run-source.mjs [argument of payment-integration ...]
 * @module
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundleSources } from './source-bundle.mjs'

const root = join(import.meta.dirname, '../..')
const packages = join(root, 'packages')
/** In the folder of the command, the bundle finds what is installed for it. */
const outfile = join(packages, 'cli/node_modules/.cache/command.mjs')
const here = ['run-source.mjs', 'source-bundle.mjs'].map((name) => join(import.meta.dirname, name))
const shared = ['package-lock.json', 'tsconfig.json', 'tsconfig.base.json', 'node_modules/esbuild/package.json']
const manifests = readdirSync(packages).map((name) => join('packages', name, 'package.json'))

await bundleSources({
  root,
  entry: join(packages, 'cli/src/bin.ts'),
  outfile,
  // Machine code, and a package that nobody need install.
  external: ['@photostructure/sqlite', 'pg-native'],
  settings: [...here, ...[...shared, ...manifests].map((path) => join(root, path))],
})
await import(pathToFileURL(outfile).href)
