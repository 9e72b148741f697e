/** Finds the frames of a file, and adds checksums to them. Source: RFC 8878, section 3.1.1. @module */

/** Content of one frame, in bytes. A writer fills it; a reader rejects a frame that claims more. */
export const frameBytes = 1_048_576
/** Compressed bytes of one frame: its content as it is, and what frame and blocks add. */
export const maxFrameBytes = frameBytes + 65_536

const magic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])
const checksumFlag = 0x04
/** All flags of the descriptor but the size of the content size: one segment, a checksum, no dictionary. */
const flagMask = 0x3f
const ourFlags = 0x24
const maxBlockBytes = 131_072
const checksumBytes = 4

/** These bytes are no frame that the archive writes. */
export class FrameFault extends Error {
  override readonly name = 'FrameFault'
  /** Bytes from the start of the frame to the fault. */
  readonly offset: number
  constructor(offset: number, message: string) {
    super(message)
    this.offset = offset
  }
}

/**
 * Adds the checksum that the compressor cannot write: sets its flag, and appends it.
 * @param frame - One frame without a checksum.
 * @param hash - XXH64 of its content with seed 0, most significant byte first.
 */
export function addChecksum(frame: Uint8Array, hash: Uint8Array): Buffer {
  const checked = Buffer.concat([frame, hash.subarray(-checksumBytes).toReversed()])
  checked.writeUInt8(checked.readUInt8(magic.length) | checksumFlag, magic.length)
  return checked
}

/**
 * Measures the first frame of these bytes.
 * @returns Its length in bytes; null when these bytes do not hold all of it.
 * @throws FrameFault when they do not begin with a frame of the archive.
 */
export function frameLength(bytes: Buffer): number | null {
  if (!bytes.subarray(0, magic.length).equals(magic.subarray(0, bytes.length)))
    throw new FrameFault(0, 'no zstd frame begins here')
  const descriptor = bytes[magic.length]
  if (descriptor === undefined) return null
  if ((descriptor & flagMask) !== ourFlags) throw new FrameFault(magic.length, 'this frame has no size or no checksum')
  const end = contentSizeEnd(bytes, descriptor >> 6)
  return end === null ? null : blocksEnd(bytes, end)
}

/** Where the size of the content ends, which must be one that the archive writes. */
function contentSizeEnd(bytes: Buffer, code: number): number | null {
  const start = magic.length + 1
  const length = 1 << code
  if (bytes.length < start + length) return null
  const size = length === 8 ? Number(bytes.readBigUInt64LE(start)) : bytes.readUIntLE(start, length)
  const content = length === 2 ? size + 256 : size
  if (content > frameBytes) throw new FrameFault(start, `this frame claims ${content} bytes; ${frameBytes} are allowed`)
  return start + length
}

/** Where the last block and the checksum end. */
function blocksEnd(bytes: Buffer, firstBlock: number): number | null {
  let at = firstBlock
  for (;;) {
    if (at > maxFrameBytes) throw new FrameFault(at, 'this frame does not end where it should')
    if (bytes.length < at + 3) return null
    const header = bytes.readUIntLE(at, 3)
    const [isLast, type, size] = [header & 1, (header >> 1) & 3, header >> 3]
    if (type === 3 || size > maxBlockBytes) throw new FrameFault(at, 'no block begins here')
    at += 3 + (type === 1 ? 1 : size)
    if (isLast === 1) break
  }
  return bytes.length < at + checksumBytes ? null : at + checksumBytes
}
