import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ArchiveWriter, HistoryRow } from '@payment-integration/core/ports'
import { expect, test } from 'vitest'
import { mountSmallDisk } from '../../../store-sql/test/support/small-disk.js'
import { header, headerName, randomRows, readFile, writeFile } from '../../test/archive-files.js'
import { temporaryFolder } from '../../test/temporary-folder.js'
import { createFolderArchive } from './folder-archive.js'

const archiveError = (message: string) => ({ code: 'ERR_ARCHIVE', name: 'ArchiveError', message })

test('a missing file, a folder and a pipe are no files', async () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'sub'))
  execFileSync('mkfifo', [join(folder, 'pipe')])
  const archive = createFolderArchive({ folder })
  const at = (name: string) => join(folder, name)
  const cases = {
    none: `The file ${at('none')} cannot be read: it does not exist.`,
    sub: `${at('sub')} is a folder. Pass a file of ended history.`,
    pipe: `${at('pipe')} is no regular file. Pass a file of ended history.`,
  }
  for (const [name, message] of Object.entries(cases))
    await expect(archive.read(name)).rejects.toMatchObject(archiveError(message))
})

test('a folder that does not exist is not created', async () => {
  const folder = join(temporaryFolder(), 'none')
  const message = `The folder ${folder} for ended history does not exist. Create it.`
  await expect(createFolderArchive({ folder }).create(header)).rejects.toMatchObject(archiveError(message))
})

test('a file in place of the folder is named', async () => {
  const folder = join(temporaryFolder(), 'file')
  writeFileSync(folder, '')
  const message = `${folder} is no folder. Choose a folder for ended history.`
  await expect(createFolderArchive({ folder }).create(header)).rejects.toMatchObject(archiveError(message))
})

test('a folder that may not be written to is named, with the remedy', async (context) => {
  const partial = (folder: string) => `The file ${join(folder, headerName)}.partial cannot be written`
  if (process.getuid?.() !== 0) {
    const folder = temporaryFolder()
    chmodSync(folder, 0o500)
    const message = `${partial(folder)}: this user may not do that. Change the rights of the folder, or run as its owner.`
    await expect(createFolderArchive({ folder }).create(header)).rejects.toMatchObject(archiveError(message))
    return
  }
  // No right stops this user; a file system that is read-only does.
  const disk = mountSmallDisk('1m')
  if (disk === null) {
    context.skip('this user may not mount a file system')
    return
  }
  try {
    execFileSync('mount', ['-o', 'remount,ro', disk.path])
    const message = `${partial(disk.path)}: the file system is read-only.`
    await expect(createFolderArchive({ folder: disk.path }).create(header)).rejects.toMatchObject(archiveError(message))
  } finally {
    disk.remove()
  }
})

test('a file is never overwritten', async () => {
  const folder = temporaryFolder()
  const { path } = await writeFile(folder, [[{ id: 1 }]])
  const message = `The file ${path} exists already, and is never overwritten.`
  await expect(createFolderArchive({ folder }).create(header)).rejects.toMatchObject(archiveError(message))
  expect(readdirSync(folder)).toStrictEqual([headerName])
  expect((await readFile(path)).groups).toStrictEqual([[{ id: 1 }]])
})

test('of two writers of one name the second is rejected, and the first goes on', async () => {
  const folder = temporaryFolder()
  const archive = createFolderArchive({ folder })
  const writer = await archive.create(header)
  await expect(archive.create(header)).rejects.toMatchObject({ code: 'ERR_ARCHIVE', message: /it exists already/ })
  await writer.write([{ id: 1 }])
  const { name } = await writer.finish()
  expect((await readFile(join(folder, name))).groups).toStrictEqual([[{ id: 1 }]])
})

test('a discarded file leaves nothing, however often it is discarded', async () => {
  const folder = temporaryFolder()
  const writer = await createFolderArchive({ folder, contentBytes: 256 }).create(header)
  await writer.write(randomRows(20, 100, 1))
  await writer.discard()
  await writer.discard()
  expect(readdirSync(folder)).toStrictEqual([])
  await expect(writer.write([])).rejects.toThrow(TypeError)
  await expect(writer.finish()).rejects.toThrow(TypeError)
})

test('a writer that is discarded during a call waits for it, and leaves nothing', async () => {
  const folder = temporaryFolder()
  const writer = await createFolderArchive({ folder, contentBytes: 256 }).create(header)
  const call = writer.write(randomRows(200, 100, 1))
  await writer.discard()
  await call
  expect(readdirSync(folder)).toStrictEqual([])
})

test('a finished file stays when its writer is discarded', async () => {
  const folder = temporaryFolder()
  const writer = await createFolderArchive({ folder }).create(header)
  const finished = writer.finish()
  await writer.discard()
  await finished
  await writer.discard()
  expect(readdirSync(folder)).toStrictEqual([headerName])
})

test('a call during another is rejected, and the other is not disturbed', async () => {
  const folder = temporaryFolder()
  const writer = await createFolderArchive({ folder, contentBytes: 256 }).create(header)
  const rows = randomRows(50, 100, 2)
  const call = writer.write(rows)
  await expect(writer.write(rows)).rejects.toThrow(TypeError)
  await call
  const { name } = await writer.finish()
  expect((await readFile(join(folder, name))).groups.flat()).toStrictEqual(rows)
})

test('a row that JSON would change ends the file', async () => {
  const values = [new Date(0), Buffer.from('a'), Number.NaN, Infinity, 1n, new Map(), Symbol('a'), () => 1, [undefined]]
  for (const value of values) {
    const folder = temporaryFolder()
    const writer = await createFolderArchive({ folder }).create(header)
    const rejected = expect(writer.write([{ id: 1 }, { body: { value } }])).rejects
    await rejected.toThrow(/^The value of body[.]value(\[0\])? in a row of history is no JSON/)
    expect(readdirSync(folder)).toStrictEqual([])
  }
})

test('a row is an object, and a member without a value is left out', async () => {
  const { path } = await writeFile(temporaryFolder(), [[{ id: 1, none: undefined }, Object.create(null)]])
  expect((await readFile(path)).groups).toStrictEqual([[{ id: 1 }, {}]])
  const writer = await createFolderArchive({ folder: temporaryFolder() }).create(header)
  await expect(writer.write([[1] as unknown as HistoryRow])).rejects.toThrow(TypeError)
})

test.for([
  ['while it is written', 4_096],
  ['while it is finished', 1_048_576],
] as const)(
  'a disk that is full %s is named, keeps nothing of the file, and takes it once there is space',
  async ([, contentBytes], context) => {
    const disk = mountSmallDisk('256k')
    if (disk === null) {
      context.skip('this user may not mount a file system')
      return
    }
    try {
      const archive = createFolderArchive({ folder: disk.path, contentBytes })
      const rows = randomRows(500, 1_000, 3)
      const writer = await archive.create(header)
      const path = join(disk.path, headerName)
      const message = `The file ${path} cannot be written: the disk is full. Make space, then run the command again.`
      await expect(fill(writer, rows)).rejects.toMatchObject(archiveError(message))
      expect(readdirSync(disk.path)).toStrictEqual([])
      await expect(writer.finish()).rejects.toThrow(TypeError)
      await writer.discard()
      disk.grow('4m')
      await fill(await archive.create(header), rows)
      expect((await readFile(path)).groups.flat()).toStrictEqual(rows)
    } finally {
      disk.remove()
    }
  },
)

async function fill(writer: ArchiveWriter, rows: readonly HistoryRow[]): Promise<void> {
  for (const row of rows) await writer.write([row])
  await writer.finish()
}
