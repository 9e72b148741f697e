/** A streaming standby of a test's PostgreSQL, made from a copy of its files, and its promotion. @module */
import { chmodSync, cpSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { ask, giveToServer, startPostgres, type TestPostgres } from './postgres.js'

export { ask }

/** Settings of a server that a standby follows. */
export const replicated = ['max_wal_senders=4', 'wal_keep_size=256MB', 'hot_standby_feedback=on'] as const

/**
 * Makes a standby that follows a server, which must have the settings {@link replicated}.
 * @param isSynchronous - Whether commits of the primary then wait until the standby has them on disk.
 */
export async function startStandby(primary: TestPostgres, { isSynchronous = false } = {}): Promise<TestPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'pi-standby-'))
  const data = join(folder, 'data')
  const client = new pg.Client({ connectionString: primary.connectionString })
  await client.connect()
  await client.query(`select pg_backup_start('standby', true)`)
  cpSync(join(primary.folder, 'data'), data, {
    recursive: true,
    filter: (path) => !/postmaster\.(pid|opts)$|pgsql_tmp|\/pg_wal\/[0-9A-F]{24}$/.test(path),
  })
  const { rows } = await client.query('select labelfile from pg_backup_stop(false)')
  await client.end()
  writeFileSync(join(data, 'backup_label'), rows[0]?.labelfile as string)
  writeFileSync(join(data, 'standby.signal'), '')
  const host = new URL(primary.connectionString).searchParams.get('host')
  // Not the primary's setting: once promoted, its commits would wait for a standby that does not exist.
  writeFileSync(join(data, 'postgresql.auto.conf'), `primary_conninfo = 'host=${host} user=postgres'\n`)
  chmodSync(data, 0o700)
  const files = readdirSync(data, { recursive: true, withFileTypes: true })
  giveToServer(data, ...files.map(({ parentPath, name }) => join(parentPath, name)))
  const standby = await startPostgres({ fsync: false, folder, settings: replicated })
  const isStreaming = async (state: string) =>
    (await ask<{ sync_state: string }>(primary, 'select sync_state from pg_stat_replication')).some(
      ({ sync_state }) => state === '' || sync_state === state,
    )
  while (!(await isStreaming(''))) await delay(20)
  if (!isSynchronous) return standby
  await ask(primary, `alter system set synchronous_standby_names = '*'`)
  await ask(primary, 'select pg_reload_conf()')
  while (!(await isStreaming('sync'))) await delay(20)
  return standby
}

/** Makes a standby the primary, and resolves once it accepts writes. */
export async function promote(standby: TestPostgres): Promise<void> {
  await ask(standby, 'select pg_promote(true, 60)')
}
