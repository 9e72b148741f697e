/** Runs promtool, which Debian's package `prometheus` has. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** The files that operators take. */
export const opsFolder = join(import.meta.dirname, '../../../../ops')

const isMissing = spawnSync('promtool', ['--version']).status !== 0

/** Whether it is missing, and a text for the title of a test that is skipped then. */
export const promtoolMissing = isMissing ? ' (skipped: no promtool; apt-get install prometheus)' : null

/** Runs it; resolves its exit code and all that it printed. */
export function promtool(...args: string[]): { readonly code: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' })
  return { code: status, output: `${stdout}${stderr}` }
}
