/** Reads a file frame by frame. @module */
import { type FileHandle, open, stat } from 'node:fs/promises'
import { ArchiveError } from '@payment-integration/core'
import { damaged, fileError, incomplete } from './file-faults.js'
import { FrameFault, frameLength } from './frame.js'

const chunkBytes = 262_144

/** One frame, and where it begins in the file. */
export interface PlacedFrame {
  readonly start: number
  readonly bytes: Buffer
}

/**
 * The frames of a file, in order.
 * @throws ArchiveError `ERR_ARCHIVE` when the file cannot be read, is cut, or holds anything but frames of the archive.
 */
export async function* readFrames(path: string): AsyncGenerator<PlacedFrame> {
  const handle = await openFile(path)
  try {
    yield* framesOf(handle, path)
  } finally {
    await handle.close()
  }
}

/** Opens a file. A folder, a pipe or a device could make a reader wait for ever. */
async function openFile(path: string): Promise<FileHandle> {
  try {
    const found = await stat(path)
    if (found.isDirectory()) throw new ArchiveError(path, `${path} is a folder. Pass a file of ended history.`)
    if (!found.isFile()) throw new ArchiveError(path, `${path} is no regular file. Pass a file of ended history.`)
    return await open(path, 'r')
  } catch (thrown) {
    throw fileError(path, 'read', thrown)
  }
}

async function* framesOf(handle: FileHandle, path: string): AsyncGenerator<PlacedFrame> {
  let start = 0
  let bytes = Buffer.alloc(0)
  for (;;) {
    const length = measure(bytes, start, path)
    if (length !== null) {
      yield { start, bytes: bytes.subarray(0, length) }
      bytes = bytes.subarray(length)
      start += length
      continue
    }
    const chunk = await readChunk(handle, start + bytes.length, path)
    if (chunk.length > 0) bytes = Buffer.concat([bytes, chunk])
    else if (bytes.length === 0) return
    else throw incomplete(path, `byte ${start + bytes.length}`, `the frame that begins at byte ${start} is cut`)
  }
}

function measure(bytes: Buffer, start: number, path: string): number | null {
  try {
    return frameLength(bytes)
  } catch (thrown) {
    if (!(thrown instanceof FrameFault)) throw thrown
    if (start + thrown.offset > 0) throw damaged(path, `byte ${start + thrown.offset}`, thrown.message)
    throw new ArchiveError(path, `${path} is no file of ended history: ${thrown.message}.`)
  }
}

async function readChunk(handle: FileHandle, position: number, path: string): Promise<Buffer> {
  const chunk = Buffer.alloc(chunkBytes)
  try {
    const { bytesRead } = await handle.read(chunk, 0, chunkBytes, position)
    return chunk.subarray(0, bytesRead)
  } catch (thrown) {
    throw fileError(path, 'read', thrown)
  }
}
