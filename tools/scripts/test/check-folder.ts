/** Folders for the tests of checks, and runs of the checks. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

type Files = Readonly<Record<string, string>>

/** Makes a temporary folder of these files. It is removed with the test. */
export function makeFolder(files: Files): string {
  const folder = mkdtempSync(join(tmpdir(), 'pi-check-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFiles(folder, files)
  return folder
}

export function writeFiles(folder: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

/** Runs a script of `tools`, and returns its exit code with everything it printed. */
export function runScript(script: string, ...args: readonly string[]) {
  const command = [join(import.meta.dirname, '../..', script), ...args]
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8', maxBuffer: 10_000_000 })
  return { code: status, stdout, stderr, printed: stdout + stderr }
}
