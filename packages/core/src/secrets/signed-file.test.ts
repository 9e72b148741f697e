import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import * as z from 'zod/mini'
import { memoryFile } from '../../test/support/archive.js'
import { type MasterKey, parseMasterKey } from './keys.js'
import { beginSignedFile, openSignedFile } from './signed-file.js'

const oldKey = 'a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90'
const newKey = '00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f'
const keys = parseMasterKey(newKey)
const rows = [{ text: 'Grüße, 支払い, \u2028 \ufeff \ud800' }, { text: 'a\n"b"\\\u0000' }, { text: '' }]
const rowSchema = z.object({ text: z.string() })
const headerSchema = z.object({ part: z.number() })
const rejected = { code: 'ERR_ARCHIVE', message: expect.stringContaining('its HMAC is wrong or missing') }

async function written(given: readonly object[] = rows, by: MasterKey = keys): Promise<Buffer> {
  const parts: Buffer[] = []
  const file = {
    name: 'file',
    write: async (content: Uint8Array) => void parts.push(Buffer.from(content)),
    finish: async () => undefined,
    discard: async () => undefined,
  }
  const writer = await beginSignedFile(by, 'archive-file', file, { part: 1 })
  await writer.write(given)
  await writer.finish()
  return Buffer.concat(parts)
}

function opened(content: Buffer, by: MasterKey = keys, chunkBytes?: number) {
  const file = memoryFile('file', () => content, chunkBytes)
  return openSignedFile(by, 'archive-file', file)
}

async function read(content: Buffer, by?: MasterKey, chunkBytes?: number) {
  const file = await opened(content, by, chunkBytes)
  const found: object[] = []
  for await (const group of file.rows(rowSchema)) found.push(...group)
  return { header: await file.header(headerSchema), found }
}

test('the last line is the HMAC of all lines before it, by a key of the purpose', async () => {
  const content = (await written()).toString()
  const [, lines = '', footer] = /^([\s\S]*\n)(\{.*\}\n)$/.exec(content) ?? []
  const hmac = createHmac('sha256', keys.current.derive('archive-file')).update(lines).digest('hex')
  expect(footer).toBe(`${JSON.stringify({ hmac })}\n`)
  expect(lines.split('\n')[0]).toBe(`{"format":2,"keyVersion":${keys.current.version},"part":1}`)
})

test('rows are read as they were written, however the content is cut into chunks', async () => {
  const content = await written()
  for (const chunkBytes of [1, 2, 7, 77, 1_000])
    expect(await read(content, keys, chunkBytes), `${chunkBytes}`).toEqual({ header: { part: 1 }, found: rows })
})

test('a file with any other byte is rejected', async () => {
  const content = await written()
  for (const place of content.keys()) {
    const changed = Buffer.from(content)
    changed.writeUInt8(changed.readUInt8(place) ^ 1, place)
    await expect(opened(changed), `byte ${place}`).rejects.toMatchObject({ code: 'ERR_ARCHIVE' })
  }
})

test('a file that is cut anywhere, or goes on, is rejected', async () => {
  const content = await written()
  for (const length of content.keys())
    await expect(opened(content.subarray(0, length)), `${length} bytes`).rejects.toMatchObject(rejected)
  for (const more of ['\n', '{}\n', content.toString()])
    await expect(opened(Buffer.concat([content, Buffer.from(more)]))).rejects.toMatchObject(rejected)
})

test('the current and every former master key that is listed verify a file, and a missing one is named', async () => {
  const old = parseMasterKey(oldKey)
  const content = await written(rows, old)
  expect(await read(content, parseMasterKey(`${newKey},${oldKey}`))).toMatchObject({ found: rows })
  const message = expect.stringContaining(`needs master key ${old.current.version}`)
  await expect(read(content)).rejects.toMatchObject({ code: 'ERR_ARCHIVE', message })
})

test('a file of one purpose is none of another', async () => {
  const content = await written()
  const file = memoryFile('file', () => content)
  await expect(openSignedFile(keys, 'move-file', file)).rejects.toMatchObject(rejected)
})

test('no row of a block is handed out that was changed after the check', async () => {
  const before = await written(Array.from({ length: 40_000 }, (_, n) => ({ text: `row ${n}` })))
  let content = before
  const changing = memoryFile('file', () => content)
  const file = await openSignedFile(keys, 'archive-file', changing)
  for (const change of ['"row 39999"', '"row 1"'] as const) {
    content = Buffer.from(before.toString().replace(change, change.replace('row', 'ROW')))
    const found: string[] = []
    const reading = async () => {
      for await (const group of file.rows(rowSchema)) found.push(...group.map(({ text }) => text))
    }
    await expect(reading()).rejects.toThrow('was changed while it was read')
    expect(found.some((text) => text.startsWith('ROW'))).toBe(false)
  }
  content = before.subarray(0, 300_000)
  await expect(file.header(headerSchema)).resolves.toEqual({ part: 1 })
  await expect(drain(file.rows(rowSchema))).rejects.toThrow('was changed')
})

async function drain(groups: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of groups);
}

test.each([
  ['nested too deep', `${'['.repeat(33)}${']'.repeat(33)}`],
  ['nothing but brackets', `[${'{},'.repeat(20_000)}{}]`],
])('a row that is %s is rejected, though it is signed', async (_name, text) => {
  const content = await written([{ toJSON: () => JSON.parse(text) as object }])
  await expect(read(content)).rejects.toThrow('Line 2 of file has another shape than this release writes')
})
