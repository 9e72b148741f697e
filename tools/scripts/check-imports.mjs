/**
 * Checks every import of the workspace against `.dependency-cruiser.cjs`, and that no package lists a dependency it
 * never imports. Usage: node tools/scripts/check-imports.mjs [root]. Exit code 0 without problems, else 1.
 * @module
 */
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { cruise } from 'dependency-cruiser'
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config'

const root = resolve(process.argv[2] ?? join(import.meta.dirname, '../..'))
process.chdir(root) // dependency-cruiser resolves against the working directory

const { options, ...ruleSet } = createRequire(import.meta.url)(join(root, '.dependency-cruiser.cjs'))
const { output } = await cruise(
  ['packages', 'examples'].filter((folder) => existsSync(join(root, folder))),
  { ...options, baseDir: root, validate: true, ruleSet },
  undefined,
  { tsConfig: extractTSConfig(join(root, 'tsconfig.json')) },
)

const comments = new Map(ruleSet.forbidden.map((rule) => [rule.name, rule.comment]))
const problems = output.summary.violations.map(({ from, to, rule, cycle }) => {
  const path = cycle ? [from, ...cycle.map((step) => step.name)].join(' -> ') : `${from} -> ${to}`
  return `${rule.name}: ${path}\n    ${comments.get(rule.name)}`
})
problems.push(...(await findUnusedDependencies(output.modules)))

for (const problem of problems) console.error(`  ${problem}`)
const { totalCruised, totalDependenciesCruised } = output.summary
console.log(`imports: ${totalCruised} files, ${totalDependenciesCruised} imports, ${problems.length} problems`)
process.exitCode = problems.length > 0 ? 1 : 0

/** Dependencies that a package.json lists and no shipped file of the package imports. */
async function findUnusedDependencies(modules) {
  const flaws = []
  const folders = await readdir(join(root, 'packages'), { withFileTypes: true })
  for (const { name: folder } of folders.filter((entry) => entry.isDirectory())) {
    const manifest = JSON.parse(await readFile(join(root, 'packages', folder, 'package.json'), 'utf8'))
    const imported = new Set(
      modules
        .filter(({ source }) => isShippedBy(folder, source))
        .flatMap((module) => module.dependencies.map((dependency) => getPackageName(dependency.module))),
    )
    for (const name of Object.keys(manifest.dependencies ?? {}))
      if (!imported.has(name) && !(await isPeerOfOne(name, manifest)))
        flaws.push(`unused-dependency: packages/${folder}/package.json lists ${name}\n    No file imports it.`)
  }
  return flaws
}

/** Whether a workspace package that the manifest lists has the peer `name`, which the manifest must then list too. */
async function isPeerOfOne(name, { dependencies }) {
  const siblings = Object.keys(dependencies).filter((each) => each.startsWith('@payment-integration/'))
  for (const sibling of siblings) {
    const path = join(root, 'packages', sibling.replace('@payment-integration/', ''), 'package.json')
    if (JSON.parse(await readFile(path, 'utf8')).peerDependencies?.[name] !== undefined) return true
  }
  return false
}

/** Whether a file is published with the package in that folder. */
function isShippedBy(folder, source) {
  const inPackage = source.startsWith(`packages/${folder}/`) ? source.slice(`packages/${folder}/`.length) : ''
  return /^src[/]/.test(inPackage) && !/[.]test(-d)?[.]ts$/.test(inPackage)
}

/** `@scope/name/entry` and `name/entry` without their entry. */
function getPackageName(specifier) {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}
