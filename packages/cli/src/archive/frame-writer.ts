/** Writes lines as zstd frames. @module */
import type { FileHandle } from 'node:fs/promises'
import type { Zstd } from './zstd.js'

/** The file of the frames, their compression and their size. */
export interface FrameWriterOptions {
  readonly handle: FileHandle
  readonly zstd: Zstd
  /** Content of each frame, in bytes. */
  readonly contentBytes: number
  /** Told of each frame that was written. */
  readonly onFrame?: (frame: Uint8Array) => void
}

/** Fills frames with lines. */
export interface FrameWriter {
  /** Adds a line, and writes each frame that it fills. */
  append(line: Buffer): Promise<void>
  /** Writes the lines that no frame holds yet as the last frame. */
  flush(): Promise<void>
}

/** Starts with an empty frame. */
export function createFrameWriter({ handle, zstd, contentBytes, onFrame }: FrameWriterOptions): FrameWriter {
  const content = Buffer.alloc(contentBytes)
  let used = 0
  async function flush(): Promise<void> {
    if (used === 0) return
    const frame = zstd.compress(content.subarray(0, used))
    used = 0
    await handle.writeFile(frame)
    onFrame?.(frame)
  }
  return {
    flush,
    async append(line) {
      for (let rest = line; rest.length > 0; ) {
        const copied = rest.copy(content, used)
        used += copied
        rest = rest.subarray(copied)
        if (used === content.length) await flush()
      }
    },
  }
}
