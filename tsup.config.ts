import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { defineConfig } from 'tsup'

interface Manifest {
  readonly exports: Readonly<Record<string, { readonly require?: unknown }>>
  readonly imports?: Readonly<
    Record<string, { readonly '@payment-integration/source': Readonly<Record<string, string>> }>
  >
}

/**
 * One recipe for every package. Its entries are the files of `src/exports`, `src/bin.ts`, and the files among which its
 * imports map (`#name`) chooses by runtime; CJS is built where its exports map says so.
 */
const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest
const dual = Object.values(manifest.exports).some((entry) => entry.require !== undefined)
const entries = readdirSync('src/exports').filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
const listed = Object.fromEntries(entries.map((file) => [file.replace(/\.ts$/, ''), `src/exports/${file}`]))
const chosenByRuntime = Object.values(manifest.imports ?? {})
  .flatMap((choice) => Object.values(choice['@payment-integration/source']))
  .map((path) => [basename(path, '.ts'), path] as const)

export default defineConfig({
  entry: {
    ...listed,
    ...(existsSync('src/bin.ts') ? { bin: 'src/bin.ts' } : {}),
    ...Object.fromEntries(chosenByRuntime),
  },
  format: dual ? ['esm', 'cjs'] : ['esm'],
  target: 'node20',
  platform: 'neutral',
  external: [/^node:/, /^#/],
  // `node:sqlite` has no other name, and runtimes other than Node know no other.
  removeNodeProtocol: false,
  // One copy of what several entries share, in CJS too: an error class must be the same class everywhere.
  splitting: true,
  // NO_DTS is for tests that only run the built command: types take most of a build's time.
  dts: process.env['NO_DTS'] ? false : { entry: listed, compilerOptions: { ignoreDeprecations: '6.0' } },
  sourcemap: true,
  clean: true,
  treeshake: true,
})
