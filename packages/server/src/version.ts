/** The version of this package, as its manifest says. @module */
import { createRequire } from 'node:module'

/** For example `0.1.0`. */
export const version: string = createRequire(import.meta.url)('../package.json').version
