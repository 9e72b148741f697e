/** Uses each tarball like a user: in an empty folder with only its listed dependencies. @module */
import { existsSync } from 'node:fs'
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { run } from './run.mjs'

/** Where this repository's own tools are installed. */
const modules = join(import.meta.dirname, '../../../node_modules')

/**
 * Installs one package beside the workspace packages that it needs, imports and requires every entry, compiles against
 * every declaration, and runs its commands.
 *
 * @param {import('./pack.mjs').Packed} packed
 *
 * @param {{ all: readonly import('./pack.mjs').Packed[], root: string, into: string, api:
 * import('./public-api.mjs').PublicApi }} context `into` is a separate folder.
 *
 * @returns {Promise<string[]>}
 */
export async function consumerProblems(packed, { all, root, into, api }) {
  await install(packed, all, root, into, new Set())
  const entries = Object.entries(api[packed.manifest.name] ?? {}).map(([key, { values }]) => ({
    specifier: key === '.' ? packed.manifest.name : `${packed.manifest.name}${key.slice(1)}`,
    values: JSON.stringify(values),
    requirable: packed.manifest.exports[key].require !== undefined,
  }))
  const problems = []
  for (const { specifier, values, requirable } of entries) {
    const print = 'console.log(JSON.stringify(Object.keys(entry).filter((name) => name !== "default").sort()))'
    const ways = { import: [`import * as entry from '${specifier}'; ${print}`, 'module'] }
    if (requirable) ways.require = [`const entry = require('${specifier}'); ${print}`, 'commonjs']
    for (const [way, [code, type]] of Object.entries(ways)) {
      const result = await run(process.execPath, [`--input-type=${type}`, '--eval', code], { cwd: into })
      const printed = result.stdout.trim()
      if (result.code !== 0) problems.push(`${way} of ${specifier} failed: ${result.stderr.trim()}`)
      else if (printed !== values) problems.push(`${way} of ${specifier} has ${printed}, its types say ${values}`)
    }
  }
  problems.push(...(await compileProblems(packed, entries, into)))
  for (const [name, path] of Object.entries(packed.manifest.bin ?? {})) {
    const result = await run(process.execPath, [join(into, 'node_modules', packed.manifest.name, path), '--version'])
    if (result.code !== 0 || result.stdout.trim() !== packed.manifest.version)
      problems.push(`${name} --version exits ${result.code} and prints ${result.stdout.trim()}${result.stderr.trim()}`)
  }
  return problems
}

/** Compiles an importing file in each module format, libraries checked too where the package promises both formats. */
async function compileProblems(packed, entries, into) {
  const lines = (chosen) =>
    chosen.map(({ specifier }, index) => `import * as e${index} from '${specifier}'\nvoid e${index}\n`).join('')
  await writeFile(join(into, 'consumer.mts'), lines(entries))
  await writeFile(join(into, 'consumer.cts'), `${lines(entries.filter(({ requirable }) => requirable))}export {}\n`)
  const compilerOptions = {
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    module: 'nodenext',
    target: 'es2022',
    // The types of an integrator's browser or edge code; the service's packages may also use Node's.
    lib: ['es2023', 'dom'],
    types: packed.dual ? [] : ['node'],
    typeRoots: [join(modules, '@types')],
    skipLibCheck: !packed.dual,
  }
  await writeFile(join(into, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
  const tsc = join(modules, 'typescript/bin/tsc')
  const { code, stdout } = await run(process.execPath, [tsc, '--project', into], { cwd: into })
  return code === 0 ? [] : [`a consumer does not compile:\n${stdout}`]
}

/** Places a package, its workspace dependencies from tarballs, and its npm dependencies from the workspace. */
async function install(packed, all, root, into, done) {
  if (done.has(packed.manifest.name)) return
  done.add(packed.manifest.name)
  // Copied, so that its imports resolve here and not in its unpack folder.
  await cp(packed.unpacked, join(into, 'node_modules', packed.manifest.name), { recursive: true })
  const { dependencies = {}, peerDependencies = {} } = packed.manifest
  for (const name of Object.keys({ ...dependencies, ...peerDependencies })) {
    const sibling = all.find(({ manifest }) => manifest.name === name)
    if (sibling) await install(sibling, all, root, into, done)
    else if (!done.has(name)) await link(installed(packed, root, name), into, name)
    done.add(name)
  }
}

/** Path of a dependency: beside the package when the root has another version. */
function installed(packed, root, name) {
  const own = join(packed.source, 'node_modules', name)
  return existsSync(own) ? own : join(root, 'node_modules', name)
}

async function link(target, into, name) {
  const place = join(into, 'node_modules', name)
  await mkdir(dirname(place), { recursive: true })
  await symlink(target, place)
}
