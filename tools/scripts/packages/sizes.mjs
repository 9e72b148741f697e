/** Compares an import's bundle size with its budget. @module */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

/**
 * An import that users make, and how many bytes it may add to their bundle: minified by esbuild, dependencies included,
 * gzipped at 9.
 * @typedef {object} Budget
 * @property {string} entry - The entry to import from.
 * @property {string[]} names - The imported names.
 * @property {number} web - Most bytes for browsers and edge runtimes.
 * @property {number} node - Most bytes for Node, whose own modules stay outside.
 */

/** Packages for tests only, which are never bundled. */
const unshipped = ['@payment-integration/testing']

const targets = {
  web: { platform: 'browser', conditions: ['browser', 'worker'] },
  node: { platform: 'node', conditions: ['node'] },
}

/**
 * Measures the budgets of one package.
 * @param {import('./pack.mjs').Packed} packed
 * @param {object} context
 * @param {string} context.root - The workspace; budgets are in `tools/scripts/size-budgets.json`, and none are
 * needed without that file.
 * @param {string} context.into - The folder where the package is installed.
 * @param {import('./public-api.mjs').PublicApi} context.api
 * @returns {Promise<{ problems: string[], table: string[] }>} Users bundle entries with `require`, so each needs a
 * budget.
 */
export async function findSizeProblems(packed, { root, into, api }) {
  const text = await readFile(join(root, 'tools/scripts/size-budgets.json'), 'utf8').catch(() => undefined)
  if (text === undefined) return { problems: [], table: [] }
  const { name, exports } = packed.manifest
  const getSpecifier = (key) => (key === '.' ? name : `${name}${key.slice(1)}`)
  const isOwn = (specifier) => specifier === name || specifier.startsWith(`${name}/`)
  /** @type {Budget[]} */
  const budgets = JSON.parse(text).filter(({ entry }) => isOwn(entry))
  const problems = Object.entries(api[name] ?? {})
    .filter(([key, { values }]) => exports[key].require !== undefined && values.length > 0 && !unshipped.includes(name))
    .map(([key]) => getSpecifier(key))
    .filter((specifier) => !budgets.some(({ entry }) => entry === specifier))
    .map((specifier) => `${specifier} has no budget in tools/scripts/size-budgets.json`)
  const table = []
  for (const budget of budgets) {
    const what = `{ ${budget.names.join(', ')} } from ${budget.entry}`
    const cells = []
    for (const [target, options] of Object.entries(targets)) {
      const bytes = await measure(budget, options, into).catch((error) => error.message.trim().split('\n').at(-1))
      cells.push(`${target} ${bytes} of ${budget[target]}`)
      if (typeof bytes === 'string') problems.push(`${what} cannot be bundled for ${target}: ${bytes}`)
      else if (bytes > budget[target])
        problems.push(`${what} takes ${bytes} bytes for ${target}, ${budget[target]} are allowed`)
    }
    table.push(`${cells.map((cell) => cell.padEnd(22)).join('')}${what}`)
  }
  return { problems, table }
}

async function measure({ entry, names }, options, into) {
  const { outputFiles } = await build({
    ...options,
    stdin: { contents: `export { ${names.join(', ')} } from '${entry}'`, resolveDir: into },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    write: false,
    logLevel: 'silent',
  })
  return gzipSync(outputFiles[0].contents, { level: 9 }).length
}
