/**
 * Runs the command from the sources, without a build. esbuild bundles them, because loading some thousand files takes
 * several times as long. Usage: node tools/scripts/run-source.mjs [argument of payment-integration ...]
 * @module
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundleSources } from './source-bundle.mjs'

const root = join(import.meta.dirname, '../..')
const packages = join(root, 'packages')
/** The bundle is in the folder of the command, so it finds the packages that are installed for the command. */
const outfile = join(packages, 'cli/node_modules/.cache/command.mjs')
const here = ['run-source.mjs', 'source-bundle.mjs'].map((name) => join(import.meta.dirname, name))
const shared = ['package-lock.json', 'tsconfig.json', 'tsconfig.base.json', 'node_modules/esbuild/package.json']
const manifests = readdirSync(packages).map((name) => join('packages', name, 'package.json'))

await bundleSources({
  root,
  entry: join(packages, 'cli/src/bin.ts'),
  outfile,
  // The first contains machine code; the second is an optional package.
  external: ['@photostructure/sqlite', 'pg-native'],
  settings: [...here, ...[...shared, ...manifests].map((path) => join(root, path))],
})
await import(pathToFileURL(outfile).href)
