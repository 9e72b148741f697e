/**
 * Compares versions handled per second on PostgreSQL with a bare upsert. The process is bundled like a release. A
 * loader that runs sources adds a cost per function to keep its name, which would distort the comparison.
 *
 * @module
 */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { startPostgres } from '../../../packages/store-sql/test/postgres.js'
import type { Measured, Rates } from './measured.js'

/** How long to measure. */
export interface VersionStoreEffort {
  /** Turns of each way. */
  readonly turns: number
  /** Least time of a turn, in milliseconds. */
  readonly turnMs: number
  /** Connections, each with one delivery at a time. */
  readonly connections: number
}

const run = promisify(execFile)
const root = join(import.meta.dirname, '../../..')

/** Measures both pairs, and returns their tables as Markdown. */
export async function benchVersionStore(effort: VersionStoreEffort): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-version-store-'))
  const server = await startPostgres()
  try {
    const script = await bundle(folder)
    const { stdout } = await run(process.execPath, [script, server.connectionString, JSON.stringify(effort)])
    const { withEffect, without } = JSON.parse(stdout) as Measured
    return [
      `### Versions handled per second, PostgreSQL, ${effort.connections} connections`,
      '',
      '| | bare upsert, per second | ours, per second | ours of bare |',
      '| --- | --- | --- | --- |',
      row('with an effect of one insert, in one transaction', withEffect),
      row('with no effect', without),
      '',
    ].join('\n')
  } finally {
    await server.remove()
    await rm(folder, { recursive: true, force: true })
  }
}

/** The driver stays outside the bundle: users install it separately. */
async function bundle(folder: string): Promise<string> {
  const outfile = join(folder, 'measured.mjs')
  await build({
    entryPoints: [join(import.meta.dirname, 'measured.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    target: 'node20',
    platform: 'node',
    conditions: ['@payment-integration/source'],
    external: ['pg'],
    logLevel: 'error',
  })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  return outfile
}

function row(name: string, { bare, ours }: Rates): string {
  return `| ${name} | ${bare.toFixed(0)} | ${ours.toFixed(0)} | ${(ours / bare).toFixed(2)} |`
}
