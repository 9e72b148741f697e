/** The files of Swagger UI that the reference page loads. @module */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const css = 'text/css; charset=utf-8'
const script = 'text/javascript; charset=utf-8'

/** Content type of each file; no other file is served. */
export const referenceFiles = {
  'swagger-ui.css': css,
  'swagger-ui-bundle.js': script,
  'swagger-ui-bundle.js.LICENSE.txt': 'text/plain; charset=utf-8',
  'favicon-32x32.png': 'image/png',
} as const

/** Name of a file that is served. */
export type ReferenceFile = keyof typeof referenceFiles

/** Reads a file without the comment that names its source map, which is not served. */
export async function readReferenceFile(name: ReferenceFile, folder = referenceFolder()): Promise<Buffer<ArrayBuffer>> {
  const bytes = await readFile(join(folder, name))
  if (name.endsWith('.png')) return bytes
  const text = bytes.toString('utf8')
  const comment = text.lastIndexOf('# sourceMappingURL=')
  // The comment begins two characters earlier.
  return comment === -1 ? bytes : Buffer.from(`${text.slice(0, comment - 2).trimEnd()}\n`)
}

/** The folder beside the built code that holds the copies; from source, the Swagger UI package itself. */
function referenceFolder(): string {
  const copies = fileURLToPath(new URL('./reference/', import.meta.url))
  if (existsSync(copies)) return copies
  return dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
}
