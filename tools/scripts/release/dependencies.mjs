/** Finds the npm packages that an installation of our packages brings. @module */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/**
 * @typedef {object} Dependency
 * @property {string} name
 * @property {string} version
 * @property {string} license - An SPDX expression.
 * @property {string} folder
 * @property {string[]} needs - Names and versions of its own dependencies, such as `zod@4.1.0`.
 */

/** Packages that a build copies into our package: the published package does not depend on them. */
const contained = { 'store-sql': ['kysely'], console: ['uplot'] }

/**
 * Every npm package that an installation of all our packages brings, ours included. An optional package counts only
 * when it is installed here.
 * @param {string} root - The workspace.
 * @param {readonly string[]} folders - Our packages, by their folders under packages/.
 * @returns {Promise<Map<string, Dependency>>} By name and version.
 */
export async function getDependencies(root, folders) {
  const dependencies = new Map()
  for (const folder of folders) await add(join(root, 'packages', folder), contained[folder] ?? [])
  return dependencies

  async function add(folder, more = []) {
    const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
    const { name, version } = manifest
    const key = `${name}@${version}`
    if (dependencies.has(key)) return key
    const needs = []
    dependencies.set(key, { name, version, license: getLicense(manifest), folder, needs })
    const optional = Object.keys(manifest.optionalDependencies ?? {})
    for (const needed of new Set([...Object.keys(manifest.dependencies ?? {}), ...optional, ...more])) {
      const at = locate(root, folder, needed)
      if (at !== null) needs.push(await add(at))
      else if (!optional.includes(needed)) throw new Error(`${key} needs ${needed}, which is not installed.`)
    }
    return key
  }
}

/** Finds the folder of a dependency as Node does: beside the package, then in each folder above. */
function locate(root, folder, name) {
  if (name.startsWith('@payment-integration/')) return join(root, 'packages', name.split('/')[1])
  for (let at = folder; ; at = dirname(at)) {
    const candidate = join(at, 'node_modules', name)
    if (existsSync(join(candidate, 'package.json'))) return candidate
    if (at === root || at === dirname(at)) return null
  }
}

function getLicense({ license, licenses }) {
  return license?.type ?? license ?? licenses?.map(({ type }) => type).join(' OR ') ?? 'none'
}
