import { createHash } from 'node:crypto'
import { copyFileSync, readdirSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { HistoryRow } from '@payment-integration/core/ports'
import { expect, test } from 'vitest'
import { header, headerName, randomRows, readFile, splitFrames, writeFile } from '../../test/archive-files.js'
import { temporaryFolder } from '../../test/temporary-folder.js'
import { createFolderArchive } from './folder-archive.js'

const values: Readonly<Record<string, unknown>> = {
  nothing: null,
  'yes and no': [true, false],
  'the largest safe number': 2 ** 53,
  'the smallest safe number': -(2 ** 53),
  fractions: [0.1, 1e-7, 1.7976931348623157e308, 5e-324],
  'text of several planes': 'Grüße, 支払い, 👩‍👩‍👧, \u2028\u2029',
  'U+0000': 'a\u0000b',
  'lone surrogates': ['\ud800', 'x\udc00y', '\udc00\ud800'],
  'a byte order mark': '\ufefftext',
  'line feeds and quotes': 'a\nb\r\n"c"\\',
  'bytes that are no character': '\u0080\u00ff\uffff\ufffd',
  'nested values': { a: [{ b: [[], {}, [null]] }], '': { '\u0000': '' } },
  'a key like an index': { 1: 'one', 0: 'zero' },
  'the text of the last line': '{"rows":1}',
}

test.each(Object.entries(values))('a row with %s is written and read without a change', async (_name, value) => {
  const rows = [{ value }, { rows: 1 }, {}, { value, after: value }]
  const { path } = await writeFile(temporaryFolder(), [rows])
  expect((await readFile(path)).groups.flat()).toStrictEqual(rows)
})

test('a key named __proto__ is read back as a key', async () => {
  const row = JSON.parse('{"__proto__":{"a":1}}') as HistoryRow
  const { path } = await writeFile(temporaryFolder(), [[row]])
  expect(JSON.stringify((await readFile(path)).groups)).toBe('[[{"__proto__":{"a":1}}]]')
})

test('rows of many calls are read back in their order, after the header', async () => {
  const rows = randomRows(500, 40, 1)
  const groups = [rows.slice(0, 1), [], rows.slice(1, 499), rows.slice(499)]
  const { path } = await writeFile(temporaryFolder(), groups, 1_000)
  const read = await readFile(path)
  expect(read.header).toStrictEqual(header)
  expect(read.groups.flat()).toStrictEqual(rows)
})

test('a file without rows is read back as none', async () => {
  const { path, rows } = await writeFile(temporaryFolder(), [])
  expect(rows).toBe(0)
  expect(await readFile(path)).toStrictEqual({ header, groups: [] })
})

test('a line of several MiB runs through frames', async () => {
  const [long] = randomRows(1, 5_000_000, 2)
  const rows = [{ id: 'before' }, long as HistoryRow, { id: 'after' }]
  const { path, content } = await writeFile(temporaryFolder(), [rows])
  expect(splitFrames(content).length).toBe(5)
  expect((await readFile(path)).groups.flat()).toStrictEqual(rows)
})

test('a file of forty frames is read in groups, none of which is larger than a frame and a line', async () => {
  const rows = randomRows(40_000, 10, 3).map(({ id, text }) => ({ id, text: String(text).repeat(100) }))
  const { path, content } = await writeFile(temporaryFolder(), [rows])
  expect(splitFrames(content).length).toBeGreaterThanOrEqual(39)
  const { groups } = await readFile(path)
  expect(groups.flat().length).toBe(rows.length)
  expect(groups.flat().every((row, index) => row['text'] === rows[index]?.['text'])).toBe(true)
  const largest = Math.max(...groups.map((group) => JSON.stringify(group).length))
  expect(largest).toBeLessThan(1_048_576 + 2_000)
})

test('the rows of a file are read as often as they are asked for, and as far', async () => {
  const folder = temporaryFolder()
  const rows = randomRows(100, 100, 4)
  const { name } = await writeFile(folder, [rows], 1_000)
  const read = await createFolderArchive({ folder }).read(name)
  for await (const group of read.rows()) {
    expect(group[0]).toStrictEqual(rows[0])
    break
  }
  const again: HistoryRow[] = []
  for await (const group of read.rows()) again.push(...group)
  expect(again).toStrictEqual(rows)
})

test('the result names the file, and has its rows, its size and its hash', async () => {
  const folder = temporaryFolder()
  const { name, rows, bytes, sha256, content } = await writeFile(folder, [randomRows(50, 100, 5)], 1_000)
  expect({ name, rows, bytes }).toStrictEqual({ name: headerName, rows: 50, bytes: content.length })
  expect(sha256).toBe(createHash('sha256').update(content).digest('hex'))
  expect(readdirSync(folder)).toStrictEqual([headerName])
})

test('only the owner may read the file', async () => {
  const { path } = await writeFile(temporaryFolder(), [])
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('a file has its name only once it is finished', async () => {
  const folder = temporaryFolder()
  const writer = await createFolderArchive({ folder, contentBytes: 256 }).create(header)
  await writer.write(randomRows(20, 100, 6))
  expect(readdirSync(folder)).toStrictEqual([`${headerName}.partial`])
  await writer.finish()
  expect(readdirSync(folder)).toStrictEqual([headerName])
})

test('a name is one of the folder, and a path leads anywhere', async () => {
  const [folder, other] = [temporaryFolder(), temporaryFolder()]
  const { name, path } = await writeFile(folder, [])
  copyFileSync(path, join(other, 'copy'))
  const archive = createFolderArchive({ folder })
  for (const text of [name, path, join(other, 'copy'), relative(process.cwd(), join(other, 'copy'))])
    expect((await archive.read(text)).header, text).toStrictEqual(header)
  const missing = `The file ${join(folder, 'copy')} cannot be read: it does not exist.`
  await expect(archive.read('copy')).rejects.toMatchObject({ code: 'ERR_ARCHIVE', message: missing })
  for (const text of ['', '.', '..'])
    await expect(archive.read(text), text).rejects.toMatchObject({ code: 'ERR_ARCHIVE' })
})

test('a header or an option out of range is rejected before a file exists', async () => {
  const folder = temporaryFolder()
  const archive = createFolderArchive({ folder })
  const wrong = [{ part: -1 }, { part: 0.5 }, { part: Number.NaN }, { writtenAt: -1 }, { writtenAt: 2 ** 53 }]
  for (const change of [...wrong, { kind: '../attempts' as 'attempts' }, { kind: 'toString' as 'attempts' }])
    await expect(archive.create({ ...header, ...change }), JSON.stringify(change)).rejects.toThrow(RangeError)
  for (const contentBytes of [0, 255, 1_048_577, Number.NaN])
    expect(() => createFolderArchive({ folder, contentBytes }), String(contentBytes)).toThrow(RangeError)
  expect(readdirSync(folder)).toStrictEqual([])
})

test('a part of more than six digits has all of them in its name', async () => {
  const writer = await createFolderArchive({ folder: temporaryFolder() }).create({ ...header, part: 12_345_678 })
  expect((await writer.finish()).name).toBe('attempts-12345678-20261126T162501Z.jsonl.zst')
})
