/**
 * Copies the Swagger UI files that the reference page loads, with their license, into the built package. Usage: node
 * scripts/copy-reference.mjs [folder]. The default folder is dist/reference of this package.
 *
 * @module
 */
import { copyFile, mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'

const served = ['swagger-ui.css', 'swagger-ui-bundle.js', 'swagger-ui-bundle.js.LICENSE.txt', 'favicon-32x32.png']
const license = ['LICENSE', 'NOTICE']

const from = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
const to = resolve(process.argv[2] ?? join(import.meta.dirname, '../dist/reference'))
await mkdir(to, { recursive: true })
for (const name of [...served, ...license]) await copyFile(join(from, name), join(to, name))
