/// <reference path="./xxhash64-module.d.ts" />
/** Compresses and decompresses frames, in WebAssembly. Source: docs/retention.md. @module */
import { addChecksum } from './frame.js'

/** Both directions, of whole frames. */
export interface Zstd {
  /** One frame, with the size of its content and a checksum. */
  compress(content: Uint8Array): Buffer
  /**
   * The content of one frame that {@link frameLength} measured: that check bounds the memory.
   * @throws Error when the checksum differs, or the compressed bytes mean nothing.
   */
  decompress(frame: Uint8Array): Uint8Array
}

let opened: Promise<Zstd> | undefined

/** Compiles both modules at the first file: other commands do not pay for them. */
export function openZstd(): Promise<Zstd> {
  opened ??= load()
  return opened
}

async function load(): Promise<Zstd> {
  const zstd = await import('@bokuweb/zstd-wasm')
  // Its file of this one hash: the others are twenty times as much to load and to keep.
  const { default: hashes } = await import('hash-wasm/dist/xxhash64.umd.min.js')
  await zstd.init()
  const hasher = await hashes.createXXHash64()
  return {
    compress(content) {
      const frame = addChecksum(zstd.compress(content), hasher.init().update(content).digest('binary'))
      // The history is removed next: a frame that cannot be read back must fail now.
      zstd.decompress(frame)
      return frame
    },
    decompress: (frame) => zstd.decompress(frame),
  }
}
