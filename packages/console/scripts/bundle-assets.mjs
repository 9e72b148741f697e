/**
 * Bundles the script and the style of the pages. Usage: node scripts/bundle-assets.mjs [folder]. The default folder is
 * dist/assets of this package.
 * @module
 */
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const here = import.meta.dirname

/** @returns {Promise<{ script: string, style: string }>} */
export async function bundleAssets() {
  const [script, style] = await Promise.all([bundleOne('console.ts'), bundleOne('console.css')])
  return { script, style }
}

/** @param {string} entry */
async function bundleOne(entry) {
  const { outputFiles } = await build({
    entryPoints: [join(here, '../island', entry)],
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    write: false,
    legalComments: 'none',
    tsconfigRaw: { compilerOptions: { target: 'es2022' } },
  })
  return outputFiles[0].text
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const to = resolve(process.argv[2] ?? join(here, '../dist/assets'))
  const { script, style } = await bundleAssets()
  await mkdir(to, { recursive: true })
  await writeFile(join(to, 'console.js'), script)
  await writeFile(join(to, 'console.css'), style)
  const plot = dirname(createRequire(import.meta.url).resolve('uplot/package.json'))
  await copyFile(join(plot, 'LICENSE'), join(to, 'LICENSE.uplot'))
}
