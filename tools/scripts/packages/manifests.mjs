/** Checks the manifest fields that users depend on: entries, dependencies and engines. @module */
import { readFile, writeFile } from 'node:fs/promises'

/** Fields whose change users notice. */
const watchedFields = [
  ...['type', 'sideEffects', 'engines', 'exports', 'imports', 'bin', 'files', 'dependencies'],
  ...['optionalDependencies', 'peerDependencies', 'peerDependenciesMeta'],
]

/**
 * Problems of a single manifest. Without `sideEffects`, every bundle keeps the whole package. With a range instead of
 * an exact version, users run other code than was tested.
 * @param {import('./pack.mjs').Packed} packed
 * @returns {string[]}
 */
export function findManifestProblems({ manifest }) {
  const problems = []
  if (manifest.sideEffects !== false) problems.push(`sideEffects is ${JSON.stringify(manifest.sideEffects)}, not false`)
  if (manifest.exports['./package.json'] !== './package.json') problems.push('exports has no ./package.json')
  for (const [name, range] of Object.entries({ ...manifest.dependencies, ...manifest.optionalDependencies }))
    if (!/^\d+[.]\d+[.]\d+/.test(range)) problems.push(`${name} is ${range}, not an exact version`)
  return problems
}

/**
 * Compares manifests with the recorded ones, or records them.
 * @param {readonly import('./pack.mjs').Packed[]} packages
 * @param {string} file - The recorded manifests: lines by package, as JSON.
 * @param {boolean} update - Records instead of comparing; packages that were not read keep their record.
 * @returns {Promise<string[]>} One line per changed field. The workspace's own version is left out.
 */
export async function compareManifests(packages, file, update) {
  const recorded = JSON.parse(await readFile(file, 'utf8').catch(() => '{}'))
  const read = Object.fromEntries(packages.map(({ manifest }) => [manifest.name, toLines(getWatched(manifest))]))
  if (update) {
    const merged = Object.entries({ ...recorded, ...read }).sort(([a], [b]) => (a < b ? -1 : 1))
    await writeFile(file, `${JSON.stringify(Object.fromEntries(merged), null, 2)}\n`)
    return []
  }
  return Object.entries(read).flatMap(([name, now]) => {
    const before = recorded[name] ?? []
    const added = now.filter((line) => !before.includes(line)).map((line) => `+ ${line}`)
    const removed = before.filter((line) => !now.includes(line)).map((line) => `- ${line}`)
    return [...added, ...removed].map((line) => `manifest of ${name}: ${line}`)
  })
}

function getWatched(manifest) {
  const hideOwnVersion = (dependencies) =>
    Object.fromEntries(
      Object.entries(dependencies).map(([name, range]) => [
        name,
        name.startsWith('@payment-integration/') && range === manifest.version ? 'same version' : range,
      ]),
    )
  return Object.fromEntries(
    watchedFields
      .filter((field) => manifest[field] !== undefined)
      .map((field) => [field, /[dD]ependencies$/.test(field) ? hideOwnVersion(manifest[field]) : manifest[field]]),
  )
}

/** `field key = value` lines. A value is one text, because the order of its conditions matters. */
function toLines(fields) {
  return Object.entries(fields).flatMap(([field, value]) =>
    value === null || typeof value !== 'object' || Array.isArray(value)
      ? [`${field} = ${JSON.stringify(value)}`]
      : Object.entries(value).map(([key, inner]) => `${field} ${key} = ${JSON.stringify(inner)}`),
  )
}
