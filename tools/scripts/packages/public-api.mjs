/** Reads the public names of every entry but `internal` from its declarations and code. @module */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import ts from 'typescript'

/**
 * Names per package and entry: values exist at run time, types only in declarations.
 * @typedef {Record<string, Record<string, { values: string[], types: string[] }>>} PublicApi
 */

/**
 * Reads the public names from the built declarations in the workspace.
 * @param {readonly import('./pack.mjs').Packed[]} packages
 * @returns {PublicApi}
 */
export function readPublicApi(packages) {
  const entries = packages.flatMap(({ source, manifest }) =>
    Object.entries(manifest.exports)
      .filter(([key]) => key !== './package.json' && !key.startsWith('./internal'))
      .map(([key, entry]) => ({ name: manifest.name, key, file: join(source, entry.import.types) })),
  )
  const program = ts.createProgram(
    entries.map(({ file }) => file),
    { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, skipLibCheck: true },
  )
  const checker = program.getTypeChecker()
  /** @type {PublicApi} */
  const api = {}
  for (const { name, key, file } of entries) {
    const module = checker.getSymbolAtLocation(program.getSourceFile(file))
    const values = []
    const types = []
    for (const symbol of module ? checker.getExportsOfModule(module) : []) {
      const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
      const list = isTypeOnly(symbol) || !(target.flags & ts.SymbolFlags.Value) ? types : values
      list.push(symbol.name)
    }
    api[name] ??= {}
    api[name][key] = { values: values.sort(), types: types.sort() }
  }
  return api
}

/** `export { type Name }` of a class exports its type alone. */
function isTypeOnly(symbol) {
  return (symbol.declarations ?? []).some((node) => ts.isExportSpecifier(node) && ts.isTypeOnlyExportDeclaration(node))
}

/**
 * Compares with the recorded names, or records them.
 * @param {PublicApi} api
 * @param {string} file - The recorded names, as JSON.
 * @param {boolean} update - Records instead of comparing; packages that were not read keep their record.
 * @returns {Promise<string[]>} One line per added or removed name.
 */
export async function compareWithRecord(api, file, update) {
  const recorded = JSON.parse(await readFile(file, 'utf8').catch(() => '{}'))
  if (update) {
    const merged = Object.entries({ ...recorded, ...api }).sort(([a], [b]) => (a < b ? -1 : 1))
    await writeFile(file, `${JSON.stringify(Object.fromEntries(merged), null, 2)}\n`)
    return []
  }
  return Object.entries(api).flatMap(([name, entries]) => {
    const before = new Set(listNames(recorded[name] ?? {}))
    const after = new Set(listNames(entries))
    const added = [...after].filter((line) => !before.has(line)).map((line) => `+ ${line}`)
    const removed = [...before].filter((line) => !after.has(line)).map((line) => `- ${line}`)
    return [...added, ...removed].map((line) => `public API of ${name}: ${line}`)
  })
}

/** `entry value name` lines of one package. */
function listNames(entries) {
  return Object.entries(entries).flatMap(([entry, { values, types }]) => [
    ...values.map((name) => `${entry} value ${name}`),
    ...types.map((name) => `${entry} type ${name}`),
  ])
}
