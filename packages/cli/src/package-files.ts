/** The version and the templates of this package, by paths that hold in `src` and in `dist`. @module */
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const manifest = createRequire(import.meta.url)('../package.json') as { version: string }

/** For example `0.1.0`. */
export const version: string = manifest.version

/** Beside `src` and `dist`. */
export const templatesFolder: string = fileURLToPath(new URL('../templates/', import.meta.url))
