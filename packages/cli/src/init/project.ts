/** Recognizes a project's language, modules, test runner and folders; extends its `package.json`. @module */
import { lstat, readdir, readFile, stat } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { InitError } from '../errors.js'
import { version } from '../files.js'

type Texts = Readonly<Record<string, string>>

interface Manifest {
  readonly name?: string
  readonly type?: string
  readonly scripts?: Texts
  readonly dependencies?: Texts
  readonly devDependencies?: Texts
}

export type TestRunner = 'node:test' | 'vitest' | 'jest'

export type Project = Awaited<ReturnType<typeof readProject>>

/** The largest file that `init` reads; files that it changes are far smaller. */
const maxBytes = 1024 * 1024

/** Reads the project in `folder`. @throws InitError `ERR_INIT` when there is no readable `package.json`. */
export async function readProject(folder: string) {
  const manifestText = await readText(folder, 'package.json')
  if (manifestText === null)
    throw new InitError(
      `There is no package.json in ${folder}. Run npm init there first, or pass the folder with --dir.`,
    )
  const manifest = parseManifest(manifestText)
  const entries = new Set(await readdir(folder))
  const hasSource = (await stat(join(folder, 'src')).catch(() => null))?.isDirectory() === true
  const sourceEntries = new Set(hasSource ? await readdir(join(folder, 'src')) : [])
  const listed = { ...manifest.dependencies, ...manifest.devDependencies }
  const testRunner: TestRunner = 'vitest' in listed ? 'vitest' : 'jest' in listed ? 'jest' : 'node:test'
  const isTypeScript = entries.has('tsconfig.json')
  const extension: 'ts' | 'js' = isTypeScript ? 'ts' : 'js'
  /** Whether `.js` and `.ts` files are ES modules. */
  const isModule = manifest.type === 'module'
  /** The folder src/ with its slash, if the project has it; else an empty string. */
  const source: '' | 'src/' = hasSource ? 'src/' : ''
  const language = { isTypeScript, extension, isModule }
  return { folder, manifestText, manifest, ...language, testRunner, source, entries, sourceEntries }
}

/** Reads a file of the project, of at most 1 MiB; null when there is none. @throws InitError `ERR_INIT` */
export async function readText(folder: string, path: string): Promise<string | null> {
  try {
    const info = await stat(join(folder, path))
    if (!info.isFile()) throw new InitError(`${path} is not a file. Move it, then run the command again.`)
    if (info.size > maxBytes) throw new InitError(`${path} is larger than 1 MiB, so it is not changed.`)
    return await readFile(join(folder, path), 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // A symbolic link without a target is an error: a write would create its target.
    if (code === 'ENOENT' && (await lstat(join(folder, path)).catch(() => null)) === null) return null
    if (error instanceof InitError) throw error
    throw new InitError(`${path} cannot be read (${code ?? 'unknown error'}).`, { cause: error })
  }
}

function parseManifest(text: string): Manifest {
  let manifest: unknown
  try {
    manifest = JSON.parse(text)
  } catch (cause) {
    throw new InitError('package.json is not JSON. Correct it, then run the command again.', { cause })
  }
  const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)
  const { scripts = {}, dependencies = {}, devDependencies = {} } = Object(manifest) as Manifest
  if (![manifest, scripts, dependencies, devDependencies].every(isObject))
    throw new InitError('package.json is not what npm expects. Correct it, then run the command again.')
  return manifest as Manifest
}

export interface ManifestAdditions {
  readonly dependencies: readonly string[]
  readonly devDependencies: readonly string[]
  readonly scripts: Texts
}

/**
 * Adds missing dependencies and scripts. A dependency of any version counts as present. The text is unchanged when
 * nothing is missing; else it keeps the indentation and the final line break of the original.
 * @returns The text, and the project's scripts whose command differs from the one to add; they are unchanged.
 */
export function changeManifest({ manifest, manifestText }: Project, additions: ManifestAdditions, packed: Texts) {
  const { dependencies = {}, devDependencies = {}, scripts = {} } = manifest
  const specs = { ...versions, ...packed }
  const missing = (names: readonly string[], ...present: readonly object[]) =>
    names.filter((name) => !present.some((each) => Object.hasOwn(each, name)))
  const newPackages = missing(additions.dependencies, dependencies)
  // The packages that ours depend on come from the same folder.
  const others = Object.keys(packed).filter((name) => !additions.dependencies.includes(name))
  const newDevPackages = missing([...new Set([...additions.devDependencies, ...others])], dependencies, devDependencies)
  const newScripts = missing(Object.keys(additions.scripts), scripts)
  const conflicts = Object.entries(additions.scripts)
    .filter(([name, script]) => Object.hasOwn(scripts, name) && scripts[name] !== script)
    .map(([name, script]) => `"${name}": ${JSON.stringify(script)}`)
  if (newPackages.length + newDevPackages.length + newScripts.length === 0) return { text: manifestText, conflicts }

  const changed: Manifest = {
    ...manifest,
    ...(newScripts.length > 0 && {
      scripts: { ...scripts, ...Object.fromEntries(newScripts.map((name) => [name, additions.scripts[name] ?? ''])) },
    }),
    ...(newPackages.length > 0 && { dependencies: withVersions(dependencies, newPackages, specs) }),
    ...(newDevPackages.length > 0 && { devDependencies: withVersions(devDependencies, newDevPackages, specs) }),
  }
  const [, indentation = '  '] = /^\{\r?\n([ \t]+)/.exec(manifestText) ?? []
  const text = JSON.stringify(changed, null, indentation)
  return { text: manifestText.endsWith('\n') ? `${text}\n` : text, conflicts }
}

/** Adds dependencies with their versions, sorted by name as npm sorts them. */
function withVersions(present: Texts, names: readonly string[], specs: Texts): Texts {
  const all = { ...present, ...Object.fromEntries(names.map((name) => [name, specs[name] ?? '*'])) }
  return Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** The packages that `init` adds, and `contract`, on which `testing` depends. Each has the version of this package. */
const ownPackages = ['version-store', 'webhook', 'testing', 'contract']

/** Finds the tarballs of our packages in a folder, as `file:` specs relative to the project. @throws InitError */
export async function findTarballs(project: string, from: string): Promise<Record<string, string>> {
  const folder = resolve(from)
  const files: readonly string[] = await readdir(folder).catch(() => [])
  const suffix = `-${version}.tgz`
  const lacking = ownPackages.filter((name) => !files.includes(`payment-integration-${name}${suffix}`))
  if (lacking.length > 0)
    throw new InitError(`${folder} has no tarball of ${lacking.join(', ')} ${version}. Run npm run pack in the clone.`)
  const path = relative(project, folder).replaceAll('\\', '/')
  return Object.fromEntries(
    ownPackages.map((name) => [`@payment-integration/${name}`, `file:${path}/payment-integration-${name}${suffix}`]),
  )
}

/** The exact package versions that this project tests with. */
export const versions: Texts = {
  ...Object.fromEntries(ownPackages.map((name) => [`@payment-integration/${name}`, version])),
  '@hono/node-server': '2.1.8',
  '@photostructure/sqlite': '1.2.1',
  '@types/node': '20.19.43',
  '@types/pg': '8.23.1',
  pg: '8.23.1',
  tsx: '4.23.15',
}
