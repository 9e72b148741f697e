/** The version of this package, from its manifest. @module */
import { createRequire } from 'node:module'

const manifest = createRequire(import.meta.url)('../package.json') as { version: string }

/** For example `0.1.0`. */
export const version: string = manifest.version
