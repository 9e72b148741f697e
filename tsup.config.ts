import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { PluginBuild } from 'esbuild'
import { defineConfig } from 'tsup'

interface Manifest {
  readonly name: string
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

/**
 * Modules of the contract with files of their own. Making a schema is a call, so a bundler must keep every schema of a
 * file from which something is used; an unused file it leaves out.
 */
const apart =
  manifest.name === '@payment-integration/contract'
    ? ['foreign-text', 'identity', 'legacy', 'legacy-snapshot', 'processor-updates', 'share-request', 'snapshot']
    : []

/** Where `tools/scripts/build.mjs` wrote the declarations of all packages; a build of one package makes its own. */
const declarations = process.env['DECLARATIONS']
const declared = Object.fromEntries(
  Object.entries(listed).map(([name, path]) => [
    name,
    declarations === undefined
      ? path
      : join(declarations, 'packages', basename(process.cwd()), path.replace(/\.ts$/, '.d.ts')),
  ]),
)

/** ky is an ES module alone. Test runners such as jest cannot `require` one, so the CommonJS build contains it. */
const kyInCommonJs = {
  name: 'ky-in-commonjs',
  setup({ initialOptions, onResolve }: PluginBuild) {
    const external = initialOptions.define?.['TSUP_FORMAT'] === '"esm"'
    onResolve({ filter: /^ky$/ }, () => (external ? { path: 'ky', external } : undefined))
  },
}

export default defineConfig({
  entry: {
    ...listed,
    ...(existsSync('src/bin.ts') ? { bin: 'src/bin.ts' } : {}),
    ...Object.fromEntries(chosenByRuntime),
    ...Object.fromEntries(apart.map((name) => [name, `src/${name}.ts`])),
  },
  format: dual ? ['esm', 'cjs'] : ['esm'],
  target: 'node20',
  platform: 'neutral',
  external: [/^node:/, /^#/],
  noExternal: ['ky'],
  esbuildPlugins: [kyInCommonJs],
  // `node:sqlite` has no other name, and runtimes other than Node know no other.
  removeNodeProtocol: false,
  // One copy of what several entries share, in CJS too: an error class must be the same class everywhere.
  splitting: true,
  // Entries that list the same file and nothing else would get each other's names: each has a file of its own.
  dts: { entry: declared, compilerOptions: { ignoreDeprecations: '6.0' } },
  sourcemap: true,
  clean: true,
  treeshake: true,
})
