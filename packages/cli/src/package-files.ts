/** This package's version and templates folder. Both paths hold in `src` and, once bundled, in `dist`. @module */
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const manifest = createRequire(import.meta.url)('../package.json') as { version: string }

/** For example `0.1.0`. */
export const version: string = manifest.version

/** Beside `src` and `dist`. */
export const templatesFolder: string = fileURLToPath(new URL('../templates/', import.meta.url))
