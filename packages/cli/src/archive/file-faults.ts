/** Errors about files of ended history and of moves, in plain words. @module */
import { lstat } from 'node:fs/promises'
import { ArchiveError } from '@payment-integration/core'

/** The remedies of the system's codes that an operator meets. */
const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user may not do that. Change the rights of the folder, or run as its owner',
  EDQUOT: "the user's quota of the disk is used up. Make space, then run the command again",
  EEXIST: 'it exists already. A command that was interrupted may have left it; remove it when none is running',
  EFBIG: 'the file system allows no file of this size',
  EIO: 'the disk reports an error. Check it before anything is removed',
  EISDIR: 'it is a folder. Pass a file',
  ENOENT: 'it does not exist',
  ENOSPC: 'the disk is full. Make space, then run the command again',
  ENOTDIR: 'a part of its path is not a folder',
  EPERM: 'the system does not permit it. Check the rights of the folder',
  EROFS: 'the file system is read-only',
}

/** The file cannot be written or read. An error that is described already, and one of the caller, stay. */
export function fileError(path: string, action: 'written' | 'read', thrown: unknown): unknown {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
  if (code === '' || code.startsWith('ERR_')) return thrown
  const reason = reasons[code] ?? `the system reports ${code}`
  return new ArchiveError(path, `The file ${path} cannot be ${action}: ${reason}.`, { cause: thrown })
}

/** @throws ArchiveError `ERR_ARCHIVE` when something has this name. */
export async function checkIsNew(path: string): Promise<void> {
  const isTaken = await lstat(path).then(
    () => true,
    () => false,
  )
  if (isTaken) throw new ArchiveError(path, `The file ${path} exists already, and is never overwritten.`)
}
