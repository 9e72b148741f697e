import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { ArchiveHeader } from '@payment-integration/core/internal'
import type { FileReader } from '@payment-integration/core/ports'
import { expect, type TestContext, test } from 'vitest'
import { mountSmallDisk, type SmallDisk } from '../../store-sql/test/support/small-disk.js'
import { temporaryFolder } from '../test/temporary-folder.js'
import { createFolderArchive } from './archive.js'

const header: ArchiveHeader = { kind: 'attempts', part: 12, writtenAt: Date.UTC(2026, 10, 26, 16, 25, 1, 999) }
const headerName = 'attempts-000012-20261126T162501Z.jsonl.gz'
const archiveError = (message: string) => ({ code: 'ERR_ARCHIVE', name: 'ArchiveError', message })

async function write(folder: string, ...contents: readonly string[]): Promise<string> {
  const file = await createFolderArchive({ folder }).create(header)
  for (const content of contents) await file.write(Buffer.from(content))
  await file.finish()
  return join(folder, file.name)
}

async function read(file: FileReader): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of file.chunks()) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

test('a file has its content, its name and the rights of its owner alone, and every gzip reads it', async () => {
  const folder = temporaryFolder()
  const contents = ['a\n', 'b'.repeat(3_000_000), '\nc\n']
  const path = await write(folder, ...contents)
  expect(readdirSync(folder)).toEqual([headerName])
  expect(await read(createFolderArchive({ folder }).open(headerName))).toBe(contents.join(''))
  expect(gunzipSync(readFileSync(path)).toString()).toBe(contents.join(''))
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('a name is one of the folder, and a path leads anywhere', async () => {
  const [folder, other] = [temporaryFolder(), temporaryFolder()]
  const path = await write(folder, 'a')
  copyFileSync(path, join(other, 'copy'))
  const archive = createFolderArchive({ folder })
  for (const text of [headerName, path, join(other, 'copy'), relative(process.cwd(), join(other, 'copy'))])
    expect(await read(archive.open(text)), text).toBe('a')
  const missing = `The file ${join(folder, 'copy')} cannot be read: it does not exist.`
  await expect(read(archive.open('copy'))).rejects.toMatchObject(archiveError(missing))
  for (const text of ['', '.', '..'])
    await expect(read(archive.open(text)), text).rejects.toMatchObject({ code: 'ERR_ARCHIVE' })
})

test('a folder, a pipe and a file of another kind are no files', async () => {
  const folder = temporaryFolder()
  const at = (name: string) => join(folder, name)
  mkdirSync(at('sub'))
  execFileSync('mkfifo', [at('pipe')])
  const content = gzipSync(randomBytes(100_000))
  writeFileSync(at('text'), '{"format":2}\n')
  writeFileSync(at('cut'), content.subarray(0, -9))
  writeFileSync(at('changed'), content.fill(0, 50_000, 50_100))
  const archive = createFolderArchive({ folder })
  const broken = ['text', 'cut', 'changed'].map((name) => [name, /is not a complete gzip file/] as const)
  for (const [name, message] of [['sub', /is a folder/], ['pipe', /is not a regular file/], ...broken] as const)
    await expect(read(archive.open(name)), name).rejects.toMatchObject(archiveError(expect.stringMatching(message)))
})

test('an interruption ends the reading, also of a file without any content', async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'empty'), Buffer.alloc(2_000_000, gzipSync('')))
  const stop = new AbortController()
  const reading = async () => {
    for await (const _ of createFolderArchive({ folder }).open('empty').chunks(stop.signal));
  }
  const rejected = expect(reading()).rejects.toThrow('interrupted')
  stop.abort(new Error('interrupted'))
  await rejected
})

test('a folder that does not exist is not created, and a file in its place is named', async () => {
  const folder = join(temporaryFolder(), 'none')
  const missing = `The folder ${folder} for archived history does not exist. Create it.`
  await expect(write(folder)).rejects.toMatchObject(archiveError(missing))
  writeFileSync(folder, '')
  const noFolder = `${folder} is not a folder. Choose a folder for archived history.`
  await expect(write(folder)).rejects.toMatchObject(archiveError(noFolder))
})

/** Runs a test on a small disk, where this user may mount one. */
async function onSmallDisk(context: TestContext, size: string, work: (disk: SmallDisk) => Promise<void>) {
  const disk = mountSmallDisk(size)
  if (disk === null) return context.skip('this user may not mount a file system')
  await work(disk).finally(disk.remove)
}

test('a folder that may not be written to is named, with the remedy', async (context) => {
  const partial = (folder: string) => `The file ${join(folder, headerName)}.partial cannot be written`
  if (process.getuid?.() !== 0) {
    const folder = temporaryFolder()
    chmodSync(folder, 0o500)
    const message = `${partial(folder)}: permission denied. Change the permissions of the folder, or run as its owner.`
    await expect(write(folder)).rejects.toMatchObject(archiveError(message))
    return
  }
  // No right stops this user; a file system that is read-only does.
  await onSmallDisk(context, '1m', async ({ path }) => {
    execFileSync('mount', ['-o', 'remount,ro', path])
    const message = `${partial(path)}: the file system is read-only.`
    await expect(write(path)).rejects.toMatchObject(archiveError(message))
  })
})

test('a file is never overwritten, and of two writers of one name the first goes on', async () => {
  const folder = temporaryFolder()
  const archive = createFolderArchive({ folder })
  const writer = await archive.create(header)
  await expect(archive.create(header)).rejects.toMatchObject(archiveError(expect.stringContaining('it already exists')))
  await writer.write(Buffer.from('first'))
  expect(readdirSync(folder)).toEqual([`${headerName}.partial`])
  await writer.finish()
  const error = archiveError(`The file ${join(folder, headerName)} already exists, and is never overwritten.`)
  await expect(archive.create(header)).rejects.toMatchObject(error)
  expect(readdirSync(folder)).toEqual([headerName])
  expect(await read(archive.open(headerName))).toBe('first')
})

test('a discarded file leaves nothing, however often it is discarded, and a finished one stays', async () => {
  const folder = temporaryFolder()
  const writer = await createFolderArchive({ folder }).create(header)
  await writer.write(Buffer.from('a'))
  await writer.discard()
  await writer.discard()
  expect(readdirSync(folder)).toEqual([])
  const finished = await createFolderArchive({ folder }).create(header)
  await finished.finish()
  await finished.discard()
  expect(readdirSync(folder)).toEqual([headerName])
})

test('a disk that is full is named, and takes the file once there is space', (context) =>
  onSmallDisk(context, '256k', async (disk) => {
    const archive = createFolderArchive({ folder: disk.path })
    const content = randomBytes(500_000)
    const writer = await archive.create(header)
    const path = join(disk.path, headerName)
    const message = `The file ${path} cannot be written: the disk is full. Free some space, then run the command again.`
    await expect(writer.write(content).then(() => writer.finish())).rejects.toMatchObject(archiveError(message))
    await writer.discard()
    expect(readdirSync(disk.path)).toEqual([])
    disk.grow('4m')
    const again = await archive.create(header)
    await again.write(content)
    await again.finish()
    expect(gunzipSync(readFileSync(path)).equals(content)).toBe(true)
  }))
