/** Compares the install scripts in SECURITY.md with the lock file and the manifests. @module */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

interface Manifest {
  readonly name?: string
  readonly private?: boolean
  readonly scripts?: Readonly<Record<string, string>>
  readonly hasInstallScript?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}
const locked = (JSON.parse(read('package-lock.json')) as { packages: Readonly<Record<string, Manifest>> }).packages
const packages = readdirSync(join(root, 'packages')).map(
  (name) => JSON.parse(read(`packages/${name}/package.json`)) as Manifest & { readonly name: string },
)

const getName = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
const installing = Object.entries(locked).filter(([, { hasInstallScript }]) => hasInstallScript === true)
const withScript = new Set(installing.map(([path]) => getName(path)))

/** Everything installed with a package: its dependencies and peers, and its own optional ones. */
function installedWith(manifest: Manifest, seen = new Set<string>()): Set<string> {
  const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta = {} } = manifest
  const isItself = seen.size === 0
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
    if (seen.has(name) || (!isItself && peerDependenciesMeta[name]?.optional === true)) continue
    seen.add(name)
    installedWith(packages.find((each) => each.name === name) ?? locked[`node_modules/${name}`] ?? {}, seen)
  }
  return seen
}

/** Texts in backticks of the first two cells of each row of a table in SECURITY.md, which begins with this heading. */
function rows(heading: string): (readonly string[])[][] {
  const [, after = ''] = read('SECURITY.md').split(`| ${heading} |`)
  const table = after.split('\n\n')[0]?.split('\n').slice(2) ?? []
  const texts = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text)
  return table.map((row) => row.split('|').slice(1, 3).map(texts))
}

const shipped = rows('Dependency of a package')
const ours = rows('Dependency of this repository')

test('SECURITY.md names every locked dependency that has an install script, once', () => {
  // The last star stands for the names of all platforms.
  const named = [...shipped, ...ours]
    .flatMap(([names = []]) => names)
    .flatMap((name) =>
      name.endsWith('*') ? [...withScript].filter((each) => each.startsWith(name.slice(0, -1))) : [name],
    )
  expect(named.toSorted()).toEqual([...withScript].toSorted())
})

test('SECURITY.md names the packages that may install each of them', () => {
  const expected: [string, string[]][] = [...withScript].map((name) => {
    const among = packages.filter((manifest) => installedWith(manifest).has(name))
    return [name, among.map((manifest) => manifest.name.replace(/^@[^/]+\//, '')).toSorted()]
  })
  const recorded = shipped.map(([[name = ''] = [], among = []]) => [name, among.toSorted()])
  expect(recorded).toEqual(expected.filter(([, among]) => among.length > 0))
})

test('no workspace package has an install script', () => {
  for (const { name, scripts = {} } of packages)
    for (const script of Object.keys(scripts)) expect(script, name).not.toMatch(/^(pre|post)?install$|^prepare$/)
})
