/** Uses each tarball like a user: in an empty folder with only its listed dependencies. @module */
import { existsSync } from 'node:fs'
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { run } from './run.mjs'

/** Where this repository's own tools are installed. */
const modules = join(import.meta.dirname, '../../../node_modules')

/**
 * Installs one package beside the workspace packages that it needs, imports and requires every entry, compiles against
 * every declaration, and runs its commands. The main entry must also work without optional peers.
 * @param {import('./pack.mjs').Packed} packed
 * @param {{ all: readonly import('./pack.mjs').Packed[], root: string, into: string, api:
 * import('./public-api.mjs').PublicApi }} context `into` is a separate folder.
 * @returns {Promise<string[]>}
 */
export async function findConsumerProblems(packed, { all, root, into, api }) {
  const listed = ({ dependencies, peerDependencies }) => Object.keys({ ...dependencies, ...peerDependencies })
  await install(packed, { all, root, into, listed })
  const entries = Object.entries(api[packed.manifest.name] ?? {}).map(([key, { values }]) => ({
    specifier: key === '.' ? packed.manifest.name : `${packed.manifest.name}${key.slice(1)}`,
    values: JSON.stringify(values),
    requirable: packed.manifest.exports[key].require !== undefined,
  }))
  const problems = [...(await findLoadProblems(entries, into)), ...(await findCompileProblems(packed, entries, into))]
  if (packed.manifest.peerDependenciesMeta !== undefined)
    problems.push(...(await findMinimalProblems(packed, { all, root, into: `${into}-minimal` })))
  for (const [name, path] of Object.entries(packed.manifest.bin ?? {})) {
    const result = await run(process.execPath, [join(into, 'node_modules', packed.manifest.name, path), '--version'])
    if (result.code !== 0 || result.stdout.trim() !== packed.manifest.version)
      problems.push(`${name} --version exits ${result.code} and prints ${result.stdout.trim()}${result.stderr.trim()}`)
  }
  return problems
}

/** Imports and requires each entry: its names must be those of its declarations. One process per way loads all. */
async function findLoadProblems(entries, into) {
  const problems = []
  for (const [way, load, chosen] of [
    ['import', '(name) => import(name)', entries],
    ['require', "(name) => createRequire(process.cwd() + '/x')(name)", entries.filter(({ requirable }) => requirable)],
  ]) {
    if (chosen.length === 0) continue
    const program = `import { createRequire } from 'node:module'
      for (const name of ${JSON.stringify(chosen.map(({ specifier }) => specifier))}) {
        const load = async () => Object.keys(await (${load})(name)).filter((key) => key !== 'default').sort()
        console.log(JSON.stringify(await load().catch((error) => String(error.stack))))
      }`
    const { code, stdout, stderr } = await run(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: into,
    })
    const printed = stdout.split('\n')
    for (const [index, { specifier, values }] of chosen.entries()) {
      const actual = printed[index] || `nothing, exit code ${code}: ${stderr}`
      if (!actual.startsWith('[')) problems.push(`${way} of ${specifier} failed: ${actual}`)
      else if (actual !== values) problems.push(`${way} of ${specifier} has ${actual}, its types say ${values}`)
    }
  }
  return problems
}

/** Imports and compiles the main entry without optional peers. For the server it also runs a host. */
async function findMinimalProblems(packed, { all, root, into }) {
  const listed = ({ dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} }) => [
    ...Object.keys(dependencies),
    ...Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true),
  ]
  await mkdir(into)
  await install(packed, { all, root, into, listed })
  const { name, exports } = packed.manifest
  if (exports['.'] === undefined) return []
  const program = join(into, 'minimal.mjs')
  if (packed.folder === 'server') await cp(join(import.meta.dirname, 'host-of-server.mjs'), program)
  else await writeFile(program, `import '${name}'`)
  const { code, stderr } = await run(process.execPath, [program], { cwd: into })
  const entry = { specifier: name, requirable: false }
  const problems = await findCompileProblems(packed, [entry], into, { skipLibCheck: false })
  if (code !== 0) problems.push(`${name} fails: ${stderr.trim()}`)
  return problems.map((problem) => `without optional peers ${problem}`)
}

/** Compiles an importing file in each module format, libraries checked too where the package promises both formats. */
async function findCompileProblems(packed, entries, into, options = {}) {
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
    types: packed.isDual ? [] : ['node'],
    typeRoots: [join(modules, '@types')],
    skipLibCheck: !packed.isDual,
    skipDefaultLibCheck: true,
    ...options,
  }
  await writeFile(join(into, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
  const tsc = join(modules, 'typescript/bin/tsc')
  const { code, stdout } = await run(process.execPath, [tsc, '--project', into], { cwd: into })
  return code === 0 ? [] : [`a consumer does not compile:\n${stdout}`]
}

/** Places a package, its listed packages of the workspace from tarballs, and those of npm from the workspace. */
async function install(packed, { all, root, into, listed }, done = new Set()) {
  if (done.has(packed.manifest.name)) return
  done.add(packed.manifest.name)
  // Copied, so that its imports resolve here and not in its unpack folder.
  await cp(packed.unpacked, join(into, 'node_modules', packed.manifest.name), { recursive: true })
  for (const name of listed(packed.manifest)) {
    const sibling = all.find(({ manifest }) => manifest.name === name)
    if (sibling) await install(sibling, { all, root, into, listed }, done)
    else if (!done.has(name)) await link(findInstalled(packed, root, name), into, name)
    done.add(name)
  }
}

/** Path of a dependency: beside the package when the root has another version. */
function findInstalled(packed, root, name) {
  const linked = join(packed.source, 'node_modules', name)
  return existsSync(linked) ? linked : join(root, 'node_modules', name)
}

async function link(target, into, name) {
  const place = join(into, 'node_modules', name)
  await mkdir(dirname(place), { recursive: true })
  await symlink(target, place)
}
