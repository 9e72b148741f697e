/** Compiles a measured program, so that no compilation is measured. @module */
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'

/** Builds `tools/bench/indexer/<name>.ts` as plain JavaScript, and returns its path. Packages stay outside. */
export function compiled(name: string): string {
  const outfile = fileURLToPath(new URL(`../../../node_modules/.cache/bench/${name}.mjs`, import.meta.url))
  const entryPoints = [fileURLToPath(new URL(`./${name}.ts`, import.meta.url))]
  buildSync({ entryPoints, outfile, bundle: true, packages: 'external', platform: 'node', format: 'esm' })
  return outfile
}
