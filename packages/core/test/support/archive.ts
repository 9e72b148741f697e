import { gunzipSync, gzipSync } from 'node:zlib'
import type { ArchiveHeader } from '../../src/history/history-store.js'
import type { FileReader, FileWriter } from '../../src/ports/runtime.js'

/** A reader of content in memory, as `chunkBytes` at a time. */
export function memoryFile(path: string, content: () => Uint8Array, chunkBytes = 1_000): FileReader {
  return {
    path,
    async *chunks() {
      const bytes = content()
      for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes)
    },
  }
}

/** Builds an empty archive in memory. @param steps - Gets the steps that make its files, in order. */
export function getArchive(steps: string[] = []) {
  const files = new Map<string, Buffer>()
  function step(name: string): void {
    steps.push(name)
    if (archive.failing === name) throw new Error(`${name} failed`)
  }
  const getContent = (name: string) => gunzipSync(files.get(name) ?? gzipSync(''))
  const archive = {
    files,
    /** The step that fails next, such as `finish`. */
    failing: null as string | null,
    lines: (name: string) =>
      getContent(name)
        .toString()
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as object),
    async create(header: ArchiveHeader): Promise<FileWriter> {
      const members: Buffer[] = []
      const name = `${header.kind}-${header.part}`
      return {
        name,
        async write(content) {
          step('write')
          members.push(gzipSync(content))
        },
        async finish() {
          step('finish')
          files.set(name, Buffer.concat(members))
        },
        async discard() {
          step('discard')
        },
      }
    },
    open: (name: string) => memoryFile(name, () => getContent(name)),
  }
  return archive
}
