/** Stores integrations and their secrets, which arrive hashed or sealed. @module */
import type { IntegrationRecord, IntegrationStore, IntegrationTransaction } from '@payment-integration/core/internal'
import { sql, type Updateable } from 'kysely'
import { forgetHealth } from '../deliveries/endpoint-rows.js'
import type { Connection, Engine } from '../engine.js'
import { listColumns, prepare, runBulk, type ValueOf } from '../internal/statements.js'
import { pack, parseHex, parseKey, toHex, toNumber, unpack } from '../internal/values.js'
import type { Integer } from '../schema/migration.js'
import type { Tables } from '../schema/tables.js'
import { integrationSessionQuery, toSessionRecord } from './integration-sessions.js'

export function createIntegrationStore(engine: Engine): IntegrationStore {
  const { read } = engine
  const { find, list } = bindIntegrations(read)
  const findCredentials = prepare(engine, (value: ValueOf<CredentialsQuery>) => credentialsQuery(read, value))
  const findSession = prepare(engine, (value: ValueOf<{ hash: string }>) =>
    integrationSessionQuery(read, value('hash')),
  )
  return {
    find,
    async credentials(address, { current, previous }) {
      const [row] = await findCredentials({
        address: parseKey(address),
        keyVersion: current.keyVersion,
        hash: current.hash,
        previousKeyVersion: previous.keyVersion,
        previousHash: previous.hash,
      })
      if (row === undefined) throw new TypeError('The statement of credentials returned no row.')
      return {
        isUsable: toNumber(row.usable) === 1,
        current: { keyVersion: toNumber(row.key_version), hash: row.hash },
        previous: {
          keyVersion: toNumber(row.previous_key_version),
          hash: row.previous_hash,
          until: toNumber(row.previous_until),
        },
      }
    },
    list,
    async findSession(hash) {
      const [row] = await findSession({ hash })
      if (row === undefined) return null
      const session = toSessionRecord(row)
      const integration = await find(session.integrationAddress)
      return integration === null ? null : { session, integration }
    },
  }
}

export function bindIntegrations(db: Connection): IntegrationTransaction {
  return {
    async find(address) {
      const query = db.selectFrom('integrations').selectAll().where('address', '=', parseKey(address))
      const row = await query.executeTakeFirst()
      return row === undefined ? null : toIntegrationRecord(row)
    },
    async list() {
      return (await db.selectFrom('integrations').selectAll().orderBy('address').execute()).map(toIntegrationRecord)
    },
    async insert({ address, name, signingSecret, enabled, createdAt, ...secretFields }) {
      const inserted = await db
        .insertInto('integrations')
        .values({
          ...toChangedColumns(secretFields),
          address: parseHex(address),
          name: pack(name),
          enabled: enabled ? 1 : 0,
          signing_key_version: signingSecret.keyVersion,
          signing_sealed: signingSecret.sealed,
          created_at: createdAt,
          endpoint_epoch: 0,
        })
        .onConflict((conflict) => conflict.column('address').doNothing())
        .returning('address')
        .executeTakeFirst()
      return inserted !== undefined
    },
    async update(address, change) {
      const columns = toChangedColumns(change)
      const key = parseKey(address)
      const before = await db
        .selectFrom('integrations')
        .selectAll()
        .where('address', '=', key)
        .modifyEnd(db.dialect.forUpdate)
        .executeTakeFirst()
      if (before === undefined) return null
      if (Object.values(columns).every((value) => value === undefined)) return toIntegrationRecord(before)
      const isHealthReset = resetsHealth(before, columns)
      const row = await db
        .updateTable('integrations')
        .set({ ...columns, ...(isHealthReset ? { endpoint_epoch: toNumber(before.endpoint_epoch) + 1 } : {}) })
        .where('address', '=', key)
        .returningAll()
        .executeTakeFirstOrThrow()
      if (isHealthReset) await forgetHealth(db, address)
      return toIntegrationRecord(row)
    },
  }
}

export async function findRegistered(db: Connection, addresses: readonly string[]): Promise<ReadonlySet<string>> {
  const columns = listColumns({ address: 'hex' })
  const values = addresses.map((address) => [address])
  const text = () =>
    `select i.address from ${db.dialect.name('integrations')} as i where i.address in (select address from v)`
  const rows = await runBulk<Pick<Tables['integrations'], 'address'>>(db, columns, values, text)
  return new Set(rows.map(({ address }) => toHex(address)))
}

/** Whether a change resets the endpoint's health, because earlier answers came from another endpoint. */
function resetsHealth(
  before: Tables['integrations'],
  { notification_url, enabled }: Updateable<Tables['integrations']>,
) {
  const isNewUrl = notification_url !== undefined && notification_url !== before.notification_url
  return isNewUrl || (enabled === 1 && toNumber(before.enabled) === 0)
}

interface CredentialsQuery {
  readonly address: Uint8Array
  readonly keyVersion: Integer
  readonly hash: string
  readonly previousKeyVersion: Integer
  readonly previousHash: string
}

/** The join returns one row for every address, so that the cost does not reveal which addresses exist. */
function credentialsQuery(read: Connection, value: ValueOf<CredentialsQuery>) {
  return read
    .selectFrom(sql<{ one: number }>`(select 1 as one)`.as('always'))
    .leftJoin('integrations as found', (join) => join.on('found.address', '=', value('address')))
    .select(({ fn, val, eb }) => [
      fn
        .coalesce(
          eb.case().when('found.api_hash', 'is', null).then(sql.lit(0)).else(eb.ref('found.enabled')).end(),
          sql.lit(0),
        )
        .as('usable'),
      fn.coalesce('found.api_key_version', val(value('keyVersion'))).as('key_version'),
      fn.coalesce('found.api_hash', val(value('hash'))).as('hash'),
      fn.coalesce('found.previous_key_version', val(value('previousKeyVersion'))).as('previous_key_version'),
      fn.coalesce('found.previous_hash', val(value('previousHash'))).as('previous_hash'),
      fn.coalesce('found.previous_until', sql.lit(0)).as('previous_until'),
    ])
}

/** The columns to change. An undefined field is an undefined column, which the query builder leaves out. */
function toChangedColumns(change: Parameters<IntegrationTransaction['update']>[1]): Updateable<Tables['integrations']> {
  const { name, enabled, apiSecret, previousApiSecret, signingSecret } = change
  const { preparedSigningSecret: prepared, previousSigningSecret: previous } = change
  return {
    name: name === undefined ? undefined : pack(name),
    notification_url: change.notificationUrl,
    enabled: enabled === undefined ? undefined : Number(enabled),
    api_key_version: readField(apiSecret, 'keyVersion'),
    api_hash: readField(apiSecret, 'hash'),
    previous_key_version: readField(previousApiSecret, 'keyVersion'),
    previous_hash: readField(previousApiSecret, 'hash'),
    previous_until: readField(previousApiSecret, 'until'),
    signing_key_version: signingSecret?.keyVersion,
    signing_sealed: signingSecret?.sealed,
    prepared_signing_key_version: readField(prepared, 'keyVersion'),
    prepared_signing_sealed: readField(prepared, 'sealed'),
    previous_signing_key_version: readField(previous, 'keyVersion'),
    previous_signing_sealed: readField(previous, 'sealed'),
    previous_signing_until: readField(previous, 'until'),
  }
}

/** A field of a secret: null if the secret is removed, undefined if it stays unchanged. */
function readField<Secret extends object, Key extends keyof Secret>(secret: Secret | null | undefined, key: Key) {
  return secret === null || secret === undefined ? secret : secret[key]
}

function toIntegrationRecord(row: Tables['integrations']): IntegrationRecord {
  const { api_key_version, api_hash, previous_key_version, previous_hash, previous_until } = row
  const { prepared_signing_key_version, prepared_signing_sealed } = row
  return {
    address: toHex(row.address),
    name: unpack<string>(row.name),
    notificationUrl: row.notification_url,
    enabled: toNumber(row.enabled) === 1,
    apiSecret:
      api_key_version === null || api_hash === null ? null : { keyVersion: toNumber(api_key_version), hash: api_hash },
    previousApiSecret:
      previous_key_version === null || previous_hash === null || previous_until === null
        ? null
        : { keyVersion: toNumber(previous_key_version), hash: previous_hash, until: toNumber(previous_until) },
    signingSecret: { keyVersion: toNumber(row.signing_key_version), sealed: row.signing_sealed },
    preparedSigningSecret:
      prepared_signing_key_version === null || prepared_signing_sealed === null
        ? null
        : { keyVersion: toNumber(prepared_signing_key_version), sealed: prepared_signing_sealed },
    previousSigningSecret: toPreviousSigningSecret(row),
    createdAt: toNumber(row.created_at),
  }
}

export type PreviousSigningColumns = Pick<
  Tables['integrations'],
  'previous_signing_key_version' | 'previous_signing_sealed' | 'previous_signing_until'
>

export function toPreviousSigningSecret(row: PreviousSigningColumns): IntegrationRecord['previousSigningSecret'] {
  const { previous_signing_key_version: version, previous_signing_sealed: sealed, previous_signing_until: until } = row
  if (version === null || sealed === null || until === null) return null
  return { keyVersion: toNumber(version), sealed, until: toNumber(until) }
}
