/** A file system that fills up, for tests of a full disk. @module */
import { execFileSync } from 'node:child_process'
import type { TestContext } from 'vitest'
import { temporaryFolder } from './engines.js'

/** A mounted file system of a fixed size. */
export interface SmallDisk {
  readonly path: string
  /** Gives it another size, such as `32m`. */
  grow(size: string): void
  remove(): void
}

/** Runs `work` on one in memory, and skips the test where this user may mount none. */
export async function onSmallDisk(context: TestContext, size: string, work: (disk: SmallDisk) => Promise<void>) {
  const disk = mountSmallDisk(size)
  if (disk === null) return context.skip('this user may not mount a file system')
  await work(disk).finally(disk.remove)
}

/** Mounts one in memory; null where this user may not. */
export function mountSmallDisk(size: string): SmallDisk | null {
  const folder = temporaryFolder()
  const mount = (...flags: string[]) => execFileSync('mount', [...flags, folder.path], { stdio: 'pipe' })
  try {
    mount('-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs')
  } catch {
    folder.remove()
    return null
  }
  return {
    path: folder.path,
    grow: (larger) => mount('-o', `remount,size=${larger}`),
    remove() {
      execFileSync('umount', ['-l', folder.path])
      folder.remove()
    },
  }
}
