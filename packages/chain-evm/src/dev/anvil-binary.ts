/** Where anvil's executable is. @module */
import { accessSync, constants, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'

/** There is no anvil on this machine. The message says how to get it. */
export class AnvilMissingError extends Error {
  override readonly name = 'AnvilMissingError'
  readonly code = 'ERR_ANVIL_MISSING'
}

/** Where to look. */
export interface AnvilSearch {
  readonly platform: NodeJS.Platform
  readonly arch: string
  /** The PATH variable. */
  readonly path: string
}

/**
 * Finds anvil: the npm package of this platform, else `anvil` on the PATH. Uses the executable itself, because a
 * wrapper script does not pass signals on.
 * @throws {@link AnvilMissingError} `ERR_ANVIL_MISSING`.
 */
export function findAnvil(search: AnvilSearch): string {
  const packageName = anvilPackage(search)
  const executable = search.platform === 'win32' ? 'anvil.exe' : 'anvil'
  const packaged = packageName === null ? null : packagedAnvil(packageName, executable)
  if (packaged !== null) return packaged
  for (const folder of search.path.split(delimiter)) {
    const candidate = join(folder, executable)
    if (folder !== '' && isExecutable(candidate)) return candidate
  }
  throw new AnvilMissingError(
    packageName === null
      ? 'The development chain needs anvil, which npm does not carry for this platform. Install Foundry (https://getfoundry.sh) so that "anvil" is on the PATH.'
      : `The development chain needs anvil. Install it with "npm install ${packageName}", or install Foundry (https://getfoundry.sh) so that "anvil" is on the PATH.`,
  )
}

/**
 * Checks an executable that the caller names: a path, or a name on the PATH.
 * @throws {@link AnvilMissingError} `ERR_ANVIL_MISSING`.
 */
export function checkAnvil(binary: string, { platform, path }: AnvilSearch): string {
  const folders = /[\\/]/.test(binary) ? [''] : path.split(delimiter).filter((folder) => folder !== '')
  const endings = platform === 'win32' ? ['', '.exe'] : ['']
  const candidates = folders.flatMap((folder) => endings.map((ending) => join(folder, `${binary}${ending}`)))
  if (binary !== '' && candidates.some(isExecutable)) return binary
  throw new AnvilMissingError(
    `The option "binary" is ${JSON.stringify(binary)}, which is no executable file; pass the path of anvil, or leave it out.`,
  )
}

function anvilPackage({ platform, arch }: AnvilSearch): string | null {
  const system = { linux: 'linux', darwin: 'darwin', win32: 'win32' }[platform as string]
  const processor = { x64: 'amd64', arm64: 'arm64' }[arch]
  return system === undefined || processor === undefined ? null : `@foundry-rs/anvil-${system}-${processor}`
}

function packagedAnvil(packageName: string, executable: string): string | null {
  try {
    const manifest = createRequire(import.meta.url).resolve(`${packageName}/package.json`)
    const candidate = join(dirname(manifest), 'bin', executable)
    return isExecutable(candidate) ? candidate : null
  } catch {
    return null
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
