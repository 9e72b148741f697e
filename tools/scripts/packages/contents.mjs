/** Checks the files of a tarball and its exports map. @module */
import { readdir, readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'

/**
 * Problems of a tarball's files: tests, files of the workspace, paths of this machine, a missing README or license.
 * @param {import('./pack.mjs').Packed} packed
 * @param {string} root - The workspace, whose path may not appear in any file.
 * @returns {Promise<string[]>}
 */
export async function findContentProblems(packed, root) {
  const problems = []
  for (const needed of ['README.md', 'LICENSE'])
    if (!packed.files.includes(needed)) problems.push(`${needed} is missing from the tarball`)
  for (const path of packed.files) {
    if (/[.]test(-d)?[.]|(^|[/])test[/]|vitest[.]config|tsconfig/.test(path))
      problems.push(`${path} does not belong in the tarball`)
    const text = await readFile(join(packed.unpacked, path), 'utf8')
    for (const place of new Set([root, homedir()]))
      if (place.length > 1 && text.includes(`${place}/`))
        problems.push(`${path} names a folder of the building machine`)
  }
  return problems
}

/** Entries that are ES modules only: a suite, a local provider, the doctor, and the twin, also behind msw. */
const esmOnlyEntries = ['conformance', 'identity-provider', 'doctor', 'msw', 'twin']

/**
 * Differences between the exports map, `src/exports` and the tarball.
 * @param {import('./pack.mjs').Packed} packed
 * @returns {Promise<string[]>}
 */
export async function findExportsMapProblems({ source, files, manifest, isDual }) {
  const problems = []
  const listings = (await readdir(join(source, 'src/exports')))
    .filter((file) => file.endsWith('.ts') && !/[.]test(-d)?[.]ts$/.test(file))
    .map((file) => file.replace(/[.]ts$/, ''))
  const getEntry = (name) => (name === 'index' ? '.' : `./${name}`)
  for (const name of listings) {
    const entry = manifest.exports[getEntry(name)]
    const expected = {
      '@payment-integration/source': `./src/exports/${name}.ts`,
      import: { types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` },
      ...(isDual && !esmOnlyEntries.includes(name)
        ? { require: { types: `./dist/${name}.d.cts`, default: `./dist/${name}.cjs` } }
        : {}),
    }
    if (JSON.stringify(entry) !== JSON.stringify(expected))
      problems.push(`exports[${getEntry(name)}] is ${JSON.stringify(entry)}, expected ${JSON.stringify(expected)}`)
  }
  for (const key of Object.keys(manifest.exports))
    if (key !== './package.json' && !listings.some((name) => getEntry(name) === key))
      problems.push(`exports[${key}] has no file in src/exports`)
  for (const path of [manifest.exports, manifest.imports ?? {}, manifest.bin ?? {}].flatMap(listTargets))
    if (!files.includes(path.replace(/^[.]\//, ''))) problems.push(`${path} is listed and not in the tarball`)
  return problems
}

/** Every path that an exports, imports or bin map points to. */
function listTargets(node) {
  return typeof node === 'string' ? [node] : Object.values(node).flatMap(listTargets)
}
