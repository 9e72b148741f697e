/** The folder of the templates of `init`, in the sources and in the published package. @module */
import { fileURLToPath } from 'node:url'

/** Beside `src` and `dist`. */
export const templatesFolder: string = fileURLToPath(new URL('../templates/', import.meta.url))
