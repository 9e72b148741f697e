/** Loads an optional package where a setting asks for it. @module */
import { MissingPackageError } from '../errors.js'

/**
 * Loads a package that only some configurations need. Other errors pass through, such as a missing package that the
 * package itself imports.
 * @param name - The package, as one installs it.
 * @param setting - The setting or call that needs it, for the message.
 * @throws MissingPackageError `ERR_PACKAGE_MISSING` when the package is not installed.
 * @example await loadPackage('pino', 'createPinoLogger', () => import('pino'))
 */
export async function loadPackage<T>(name: string, setting: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'ERR_MODULE_NOT_FOUND' || !message.startsWith(`Cannot find package '${name}' `)) throw error
    throw new MissingPackageError(name, setting)
  }
}
