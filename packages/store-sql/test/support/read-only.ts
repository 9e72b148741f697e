/** Read-only files, for tests of a disk that becomes read-only. @module */
import { execFileSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { temporaryFolder } from './engines.js'

/** Makes it read-only, by mode; for the superuser by a mount. Null where that is not permitted. */
export function readOnlyFile(path: string) {
  if (process.getuid?.() !== 0) {
    chmodSync(path, 0o444)
    return { path, remove: () => chmodSync(path, 0o644) }
  }
  const view = temporaryFolder()
  const mount = (...args: string[]) => execFileSync('mount', args, { stdio: 'pipe' })
  try {
    mount('--bind', dirname(path), view.path)
    mount('-o', 'remount,bind,ro', view.path)
  } catch {
    view.remove()
    return null
  }
  return {
    path: join(view.path, basename(path)),
    remove() {
      execFileSync('umount', ['-l', view.path])
      view.remove()
    },
  }
}
