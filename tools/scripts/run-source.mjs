/**
 * Runs the command from the sources, without a build: bundles them with esbuild, which is several times faster than to
 * load some thousand files. Usage: node tools/scripts/run-source.mjs [argument of payment-integration ...]
 *
 * @module
 */
import { mkdir, readdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = join(import.meta.dirname, '../..')
/** Here the bundle finds what is installed for the command. */
const folder = join(root, 'packages/cli/node_modules/.cache')
/** Dependencies of many small modules: they load faster as part of the bundle. */
const bundled = ['kysely', 'zod']

await mkdir(folder, { recursive: true })
// Placed at once: another start of the same sources may be reading it.
const draft = join(folder, `${process.pid}.mjs`)
const command = join(folder, 'command.mjs')
await build({
  entryPoints: [join(root, 'packages/cli/src/bin.ts')],
  outfile: draft,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  conditions: ['@payment-integration/source'],
  external: await dependencies(),
  logLevel: 'error',
  plugins: [{ name: 'source-urls', setup: keepSourceUrls }],
})
await rename(draft, command)
await import(pathToFileURL(command).href)

/** What is installed and not part of the bundle. */
async function dependencies() {
  const folders = await readdir(join(root, 'packages'))
  const manifests = await Promise.all(
    folders.map(async (name) => JSON.parse(await readFile(join(root, 'packages', name, 'package.json'), 'utf8'))),
  )
  return manifests
    .flatMap((manifest) => [manifest.dependencies, manifest.peerDependencies, manifest.optionalDependencies])
    .flatMap((listed = {}) => Object.keys(listed))
    .filter((name) => !name.startsWith('@payment-integration/') && !bundled.includes(name))
}

/** A module that reads files beside itself finds them beside its source. */
function keepSourceUrls(hooks) {
  hooks.onLoad({ filter: /[\\/]packages[\\/][^\\/]+[\\/]src[\\/].*\.ts$/ }, async ({ path }) => {
    const source = await readFile(path, 'utf8')
    return { contents: source.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)), loader: 'ts' }
  })
}
