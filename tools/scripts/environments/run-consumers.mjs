/** Compiles and runs programs that name every export, with each compiler and resolution mode. @module */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { readPublicApi } from '../packages/public-api.mjs'
import { run, runOrThrow } from './child.mjs'
import { findRuntimes } from './runtimes.mjs'

/** Compilers, by their folder in `tools/environments/runtimes`. */
const compilers = ['typescript-5.9', 'typescript-6.0', 'typescript-7.0']

/** How an integrator's project resolves its imports. Both `.mts` and `.cts` are compiled unless a bundler follows. */
const modes = {
  node16: { module: 'node16', moduleResolution: 'node16' },
  nodenext: { module: 'nodenext', moduleResolution: 'nodenext' },
  bundler: { module: 'preserve', moduleResolution: 'bundler' },
}

/** Options of an integrator's strict project; declarations of libraries are checked, too. */
const strict = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
  skipLibCheck: false,
  skipDefaultLibCheck: true,
  target: 'es2022',
  lib: ['es2023', 'dom', 'dom.asynciterable', 'dom.iterable'],
  types: [],
}

/** Entries with the service or its core as an optional peer, which an integrator installs only for these entries. */
const serviceEntries = ['msw', 'twin', 'conformance'].map((name) => `@payment-integration/testing/${name}`)

/** Packages that an integrator installs. */
const packages = ['webhook', 'version-store', 'client', 'mirror', 'contract', 'identity-sumsub', 'testing']

/** Compiles and runs. @param {object} context - See `run-runtimes.mjs`; `packed` are the packages. */
export async function runConsumers({ packed, runtimes, integrator, results, inParallel }) {
  const chosen = packed.filter(({ folder }) => packages.includes(folder))
  const api = readPublicApi(chosen)
  const allEntries = chosen.flatMap(({ manifest }) =>
    Object.entries(api[manifest.name]).map(([key, names]) => ({
      ...names,
      specifier: key === '.' ? manifest.name : `${manifest.name}${key.slice(1)}`,
      requirable: manifest.exports[key].require !== undefined,
    })),
  )
  const entries = allEntries.filter(({ specifier }) => !serviceEntries.includes(specifier))
  const oldest = findRuntimes(runtimes).find(({ kind, missing }) => kind === 'node' && missing === undefined)
  const node = oldest?.path ?? process.execPath
  const runs = compilers.flatMap((compiler) => Object.keys(modes).map((mode) => ({ compiler, mode })))
  await inParallel([
    ...runs.map(({ compiler, mode }) => () => {
      const column = `${mode}${mode === 'bundler' ? '' : ', ESM and CJS'}`
      return results.check('consumers', compiler, column, () =>
        compileAndRun({ compiler, mode, node, entries, runtimes, integrator }),
      )
    }),
    () =>
      results.check('consumers', oldest?.name ?? 'Node', 'no effect on import', () =>
        importQuietly(entries, node, integrator),
      ),
  ])
}

async function compileAndRun({ compiler, mode, node, entries, runtimes, integrator }) {
  const folder = join(integrator, 'consumers', `${compiler}-${mode}`)
  await mkdir(folder, { recursive: true })
  const isBundler = mode === 'bundler'
  const requirableEntries = entries.filter(({ requirable }) => requirable)
  const sources = isBundler
    ? { 'consumer.ts': writeConsumer(entries) }
    : {
        'consumer.mts': writeConsumer(entries),
        'consumer.cts': writeConsumer(requirableEntries).replaceAll(
          /^import (\* as \w+) from ('.*')$/gm,
          (_, name, from) => `import ${name.slice(5)} = require(${from})`,
        ),
      }
  for (const [name, text] of Object.entries(sources)) await writeFile(join(folder, name), text)
  const compilerOptions = { ...strict, ...modes[mode], rootDir: '.', outDir: 'out' }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: Object.keys(sources) }))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  const tsc = join(runtimes, 'node_modules', compiler, 'bin/tsc')
  await runOrThrow(process.execPath, [tsc, '--project', folder], { cwd: folder, seconds: 90 })
  let programs = ['out/consumer.mjs', 'out/consumer.cjs']
  if (isBundler) {
    programs = ['bundle.mjs', 'bundle.cjs']
    const options = { bundle: true, platform: 'node', target: 'node20', logLevel: 'silent', absWorkingDir: folder }
    for (const format of ['esm', 'cjs']) {
      const outfile = format === 'esm' ? 'bundle.mjs' : 'bundle.cjs'
      // A CJS dependency needs this in a bundle of ES modules.
      const banner = {
        js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
      }
      await build({
        ...options,
        format,
        entryPoints: ['out/consumer.js'],
        outfile,
        ...(format === 'esm' ? { banner } : {}),
      })
    }
  }
  for (const program of programs) {
    const { code, stdout, stderr } = await run(node, [program], { cwd: folder, seconds: 60 })
    if (code !== 0) throw new Error(`${program} ended with ${code}: ${stdout}${stderr}`)
  }
  return `${entries.length} entries`
}

/** A program that names each value and each type of every entry; it ends with 1 and a list when a value is missing. */
function writeConsumer(entries) {
  const lines = entries.map(({ specifier }, at) => `import * as entry${at} from '${specifier}'`)
  const values = entries.flatMap(({ values }, at) =>
    values.map((name) => `  ['${entries[at].specifier} ${name}', entry${at}.${name}],`),
  )
  // Also names generic types: an alias without arguments would not compile, but a re-export does.
  const types = entries.flatMap(({ types, specifier }, at) =>
    types.length === 0
      ? []
      : [`export type { ${types.map((name) => `${name} as ${name}Of${at}`).join(', ')} } from '${specifier}'`],
  )
  return [
    ...lines,
    ...types,
    'const found: readonly (readonly [string, unknown])[] = [',
    ...values,
    ']',
    'const missing = found.filter(([, value]) => value === undefined).map(([name]) => name)',
    "if (missing.length > 0) throw new Error('missing at run time: ' + missing.join(', '))",
    '',
  ].join('\n')
}

/** Globals of dependencies: zod shares its registry between its copies. */
const knownGlobals = ['__zod_globalConfig', '__zod_globalRegistry']

/**
 * Checks `sideEffects: false`: importing every entry changes no global, prototype or listener, and the program exits.
 */
async function importQuietly(entries, node, integrator) {
  const file = join(integrator, 'quiet.mjs')
  const lines = [
    `const known = ${JSON.stringify(knownGlobals)}`,
    'const own = (name, one) => Reflect.ownKeys(one).map((key) => name + " " + String(key))',
    'const builtIn = { Object, Array, Function, String, Number, Promise, Error, Map, Set, RegExp, Date, Uint8Array }',
    'const state = () => new Set([',
    '  ...own("global", globalThis).filter((line) => !known.includes(line.slice(7))),',
    '  ...Object.entries(builtIn).flatMap(([name, one]) => [...own(name, one), ...own(name + ".prototype", one.prototype)]),',
    '  ...process.eventNames().map((name) => "listeners " + String(name) + process.listenerCount(name)),',
    '  "stack traces " + Error.stackTraceLimit,',
    '])',
    // Node defines some globals at their first read.
    'for (const name of Reflect.ownKeys(globalThis)) void globalThis[name]',
    ...entries.flatMap(({ specifier }) => [
      `{ const before = state(); await import('${specifier}'); const after = state()`,
      '  const changed = [...before].filter((line) => !after.has(line)).concat([...after].filter((line) => !before.has(line)))',
      `  if (changed.length > 0) throw new Error('importing ${specifier} changed ' + changed.join(', ')) }`,
    ]),
  ]
  await writeFile(file, lines.join('\n'))
  await runOrThrow(node, [file], { cwd: integrator, seconds: 60 })
  return `${entries.length} entries`
}
