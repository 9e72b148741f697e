import { gzipSync } from 'node:zlib'
import { ArchiveError } from '@payment-integration/core'
import { expect, test } from 'vitest'
import { framesOf, header, put, randomRows, readFile, splitFrames, writeFile } from '../../test/archive-files.js'
import { temporaryFolder } from '../../test/temporary-folder.js'
import { seededFraction } from '../dev/plan.js'

const seed = 20_261_126
const rows = randomRows(200, 150, seed)
const first = `${JSON.stringify({ format: 1, ...header })}\n`

/** How reading a file fails: the message, or null when it is read. */
async function fault(path: string): Promise<string | null> {
  try {
    await readFile(path)
    return null
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(ArchiveError)
    expect(thrown).toMatchObject({ code: 'ERR_ARCHIVE', path })
    return (thrown as Error).message
  }
}

test('a file that is cut anywhere is incomplete', async () => {
  const folder = temporaryFolder()
  const { content } = await writeFile(folder, [rows], 2_048)
  const fraction = seededFraction(seed)
  const last = Array.from({ length: 200 }, (_, index) => content.length - 1 - index)
  const before = Array.from({ length: 50 }, () => Math.floor(fraction() * (content.length - 200)))
  for (const length of [...last, ...before]) {
    const path = put(folder, content.subarray(0, length))
    expect(await fault(path), `seed ${seed}, cut at ${length}`).toContain('is incomplete')
  }
})

test('a file that is cut between any two frames is incomplete', async () => {
  const folder = temporaryFolder()
  const frames = splitFrames((await writeFile(folder, [rows], 512)).content)
  expect(frames.length).toBeGreaterThan(50)
  for (const count of frames.keys())
    expect(await fault(put(folder, Buffer.concat(frames.slice(0, count)))), `${count} frames`).toContain('incomplete')
})

test('a file that is cut after a whole line is incomplete', async () => {
  const folder = temporaryFolder()
  const lines = [first, '{"a":1}\n', '{"a":2}\n', '{"rows":2}\n']
  expect(await fault(put(folder, await framesOf(...lines)))).toBeNull()
  for (const count of [0, 1, 2, 3])
    expect(await fault(put(folder, await framesOf(...lines.slice(0, count)))), `${count} lines`).toContain('incomplete')
})

test('a changed byte is an error, or changes no row', async () => {
  const folder = temporaryFolder()
  const { content } = await writeFile(folder, [rows], 2_048)
  const fraction = seededFraction(seed)
  for (let round = 0; round < 500; round += 1) {
    const changed = Buffer.from(content)
    const place = Math.floor(fraction() * content.length)
    changed.writeUInt8(changed.readUInt8(place) ^ (1 << Math.floor(fraction() * 8)), place)
    const path = put(folder, changed)
    const name = `seed ${seed}, byte ${place}`
    if ((await fault(path)) === null) expect((await readFile(path)).groups.flat(), name).toStrictEqual(rows)
  }
})

test('no row of a damaged frame is handed out', async () => {
  const folder = temporaryFolder()
  const frames = splitFrames((await writeFile(folder, [rows], 2_048)).content)
  const damagedFrame = Buffer.from(frames[3] as Buffer)
  damagedFrame.writeUInt8(damagedFrame.readUInt8(900) ^ 1, 900)
  const start = frames.slice(0, 3).reduce((sum, frame) => sum + frame.length, 0)
  const path = put(folder, Buffer.concat([...frames.slice(0, 3), damagedFrame, ...frames.slice(4)]))
  expect(await fault(path)).toBe(
    `The file ${path} is damaged at byte ${start}: the frame that begins there, of ${damagedFrame.length} bytes, does ` +
      'not match its checksum. Nothing after this place can be read; take another copy of the file.',
  )
})

test('a missing, a doubled and a misplaced frame are errors', async () => {
  const folder = temporaryFolder()
  // A line in each frame: only the last line shows that frames are missing.
  const [head, a, b, end] = [first, '{"a":1}\n', '{"a":2}\n', '{"rows":2}\n']
  const wrong = [
    [head, a, end],
    [head, a, a, b, end],
    [a, head, b, end],
    [head, a, end, b],
    [head, a, b, end, end],
  ]
  for (const lines of wrong) expect(await fault(put(folder, await framesOf(...lines))), lines.join('')).not.toBeNull()
})

test('two files, one after the other, are no file', async () => {
  const folder = temporaryFolder()
  const { content } = await writeFile(folder, [rows])
  const message = await fault(put(folder, Buffer.concat([content, content])))
  expect(message).toContain('damaged at line 404: it counts 200 rows, and there are 402.')
})

test('the error of a line names the line', async () => {
  const folder = temporaryFolder()
  const cases: readonly (readonly [lines: string, message: string])[] = [
    ['{"a":1}\nno JSON\n{"rows":2}\n', 'damaged at line 3: it is no JSON.'],
    ['{"a":1}\n[1]\n{"rows":2}\n', 'damaged at line 3: it is no JSON object.'],
    ['{"a":1}\nnull\n{"rows":2}\n', 'damaged at line 3: it is no JSON object.'],
    ['{"a":1}\n\n{"rows":2}\n', 'damaged at line 3: it is no JSON.'],
    ['{"a":1}\n{"rows":2}\n', 'damaged at line 3: it counts 2 rows, and there are 1.'],
    ['{"a":1}\n{"rows":1,"b":1}\n', 'ends at line 3: this line does not count the rows, as the last one does.'],
    ['{"a":1}\n{"rows":1}', 'ends at the frame at byte 0: its last line has no end.'],
    ['{"a":1}\n{"rows":"1"}\n', 'ends at line 3: this line does not count the rows, as the last one does.'],
  ]
  for (const [lines, message] of cases)
    expect(await fault(put(folder, await framesOf(first + lines))), lines).toContain(message)
})

test('bytes that are no UTF-8 are an error', async () => {
  const folder = temporaryFolder()
  const { openZstd } = await import('./zstd.js')
  const content = Buffer.concat([Buffer.from(first), Buffer.from([0x22, 0xff, 0x22, 0x0a])])
  expect(await fault(put(folder, (await openZstd()).compress(content)))).toContain('a line is not UTF-8')
})

test('a file of another kind is named as such', async () => {
  const folder = temporaryFolder()
  const others = [Buffer.from(first), gzipSync(first), Buffer.from('PK\u0003\u0004'), Buffer.alloc(100)]
  for (const bytes of others)
    expect(await fault(put(folder, bytes))).toContain('is no file of ended history: no zstd frame begins here.')
  const lines = ['{}', '{"rows":0}', '{"format":0}', '{"format":"1"}', first.replace('attempts', 'payments')]
  for (const line of [...lines, first.replace('12', '-12'), first.replace('"writtenAt":', '"at":')])
    expect(await fault(put(folder, await framesOf(`${line}\n`))), line).toContain('its first line is not one')
})

test('a newer format is named, with the remedy', async () => {
  const path = put(temporaryFolder(), await framesOf('{"format":2,"parts":[]}\n{"rows":0}\n'))
  const message = `The file ${path} has format 2; this release reads format 1. Use the release that wrote it.`
  expect(await fault(path)).toBe(message)
})
