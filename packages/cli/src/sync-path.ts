/** Waits until a file or a folder is on the disk. @module */
import { open } from 'node:fs/promises'

/** Of a folder the names of its files are written: a new name is permanent then. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
