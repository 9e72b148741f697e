import type { ArchiveHeader, HistoryArchive, HistoryRow } from '../../src/ports/history-archive.js'

interface ArchiveFile {
  readonly header: ArchiveHeader
  readonly rows: readonly HistoryRow[]
}

/** Files in memory, and the steps that made them. */
export interface MemoryArchive extends HistoryArchive {
  readonly files: Map<string, ArchiveFile>
  readonly steps: string[]
  /** The step that fails next, such as `finish`. */
  failing: string | null
}

/** Builds an empty archive. `steps` is shared with what else a test watches. */
export function memoryArchive(steps: string[] = []): MemoryArchive {
  const files = new Map<string, ArchiveFile>()
  function step(name: string): void {
    steps.push(name)
    if (archive.failing === name) throw new Error(`${name} failed`)
  }
  const archive: MemoryArchive = {
    files,
    steps,
    failing: null,
    async create(header) {
      const rows: HistoryRow[] = []
      const name = `${header.kind}-${header.part}`
      return {
        async write(group) {
          step('write')
          rows.push(...group)
        },
        async finish() {
          step('finish')
          files.set(name, { header, rows })
          return { name, rows: rows.length, bytes: 1, sha256: 'ab'.repeat(32) }
        },
        async discard() {
          step('discard')
        },
      }
    },
    async read(name) {
      const file = files.get(name)
      if (file === undefined) throw new Error(`no file ${name}`)
      return {
        header: file.header,
        async *rows() {
          yield file.rows
        },
        sha256: async () => 'ab'.repeat(32),
      }
    },
  }
  return archive
}
