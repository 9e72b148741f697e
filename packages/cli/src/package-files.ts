/** The package's version and templates folder, found from `src` and from the bundled `dist`. @module */
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/** This package's version, for example `0.1.0`. */
export const version: string = createRequire(import.meta.url)('../package.json').version

/** The folder of the templates, next to `src` and `dist`. */
export const templatesFolder: string = fileURLToPath(new URL('../templates/', import.meta.url))
