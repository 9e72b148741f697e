import { expect, test } from 'vitest'
import { addChecksum, FrameFault, frameLength, maxFrameBytes } from './frame.js'
import { openZstd } from './zstd.js'

const hash = Buffer.from('0001020304050607', 'hex')

test.each([0, 1, 255, 256, 65_791, 65_792, 131_073, 1_048_576])(
  'a frame of %i bytes has their number and a checksum',
  async (size) => {
    const zstd = await openZstd()
    const content = Uint8Array.from({ length: size }, (_, index) => (index * index) >> 7)
    const frame = zstd.compress(content)
    expect(frameLength(frame)).toBe(frame.length)
    expect(frameLength(Buffer.concat([frame, frame]))).toBe(frame.length)
    expect(Buffer.from(zstd.decompress(frame)).equals(content)).toBe(true)
    const other = Buffer.from(frame)
    other.writeUInt8(other.readUInt8(other.length - 1) ^ 1, other.length - 1)
    expect(() => zstd.decompress(other)).toThrow()
  },
)

test('a part of a frame has no length yet', async () => {
  const frame = (await openZstd()).compress(Buffer.from('text '.repeat(100)))
  for (const length of frame.keys()) expect(frameLength(frame.subarray(0, length)), `${length} bytes`).toBeNull()
})

test('the checksum is the last four bytes of the hash, the least significant first', () => {
  const frame = Buffer.from('28b52ffd2001090000' + '41', 'hex')
  expect(addChecksum(frame, hash).toString('hex')).toBe('28b52ffd240109000041' + '07060504')
})

test.each([
  ['other magic bytes', '28b52ffe', 0, 'no zstd frame begins here'],
  ['a skippable frame', '502a4d18', 0, 'no zstd frame begins here'],
  ['no checksum', '28b52ffd2001', 4, 'this frame has no size or no checksum'],
  ['no size', '28b52ffd0458', 4, 'this frame has no size or no checksum'],
  ['a dictionary', '28b52ffd2501', 4, 'this frame has no size or no checksum'],
  ['a reserved bit', '28b52ffd2c01', 4, 'this frame has no size or no checksum'],
  ['4 GiB of content', '28b52ffda4ffffffff', 5, 'this frame claims 4294967295 bytes; 1048576 are allowed'],
  ['more than a frame may have', '28b52ffda401001000', 5, 'this frame claims 1048577 bytes; 1048576 are allowed'],
  [
    '2^63 bytes of content',
    '28b52ffde40000000000000080',
    5,
    'this frame claims 9223372036854776000 bytes; 1048576 are allowed',
  ],
  ['a block of an unknown type', '28b52ffd240107000041', 6, 'no block begins here'],
  ['a block of more than 128 KiB', '28b52ffd2401080010', 6, 'no block begins here'],
])('a frame with %s is rejected', (_name, hex, offset, message) => {
  expect(() => frameLength(Buffer.from(hex, 'hex'))).toThrow(FrameFault)
  expect(() => frameLength(Buffer.from(hex, 'hex'))).toThrow(expect.objectContaining({ offset, message }))
})

test('blocks without an end are rejected', () => {
  const endless = Buffer.concat([Buffer.from('28b52ffd2401', 'hex'), Buffer.alloc(maxFrameBytes + 100)])
  expect(() => frameLength(endless)).toThrow('this frame does not end where it should')
})
