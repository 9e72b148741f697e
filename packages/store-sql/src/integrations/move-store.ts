/** Reads and writes the rows of an integration that moves. Source: docs/decisions/cells.md. @module */
import type { ProcessorUpdate } from '@payment-integration/contract'
import type { MovedUpdate, MoveRow, MoveStore, UnnotifiedVersion } from '@payment-integration/core/internal'
import type { Connection, Engine } from '../engine.js'
import { findLowestReplayable } from '../history/segments.js'
import { listColumns, run, runBulk, type StatementText } from '../internal/statements.js'
import { pack, parseHex, toHex, toNullableNumber, toNumber, unpack } from '../internal/values.js'
import type { Integer } from '../schema/migration.js'
import { lockPayments, lockPaymentsByKey, notifyVersions, replacePayments } from './moved-payments.js'

/** Updates per statement, of all integrations. */
const updatesPageSize = 2_000

/** Reads, by id, the updates of an integration's payments and the waiting updates that may be for the integration. */
async function* readUpdates(read: Connection, address: string): AsyncGenerator<readonly MoveRow[]> {
  for (let after = ''; ; ) {
    const rows = await read
      .selectFrom((from) =>
        from.selectFrom('updates').selectAll().where('id', '>', after).orderBy('id').limit(updatesPageSize).as('u'),
      )
      .leftJoin('payments as p', 'p.id', 'u.payment_id')
      .select(['u.id', 'u.fingerprint', 'u.outcome', 'u.reason', 'u.version', 'u.body'])
      .select(['p.chain_id', 'p.tx_hash', 'p.ordinal', 'p.integration'])
      .orderBy('u.id')
      .execute()
    const last = rows.at(-1)
    if (last === undefined) return
    after = last.id
    const decided: MoveRow[] = []
    const waiting: MoveRow[] = []
    for (const { chain_id, tx_hash, ordinal, integration, ...row } of rows) {
      const content = unpack<ProcessorUpdate>(row.body)
      if (row.outcome === 'waiting') {
        if (content !== null && (content.integrationAddress ?? address) === address) waiting.push({ waiting: content })
        continue
      }
      if (chain_id === null || tx_hash === null || ordinal === null || integration === null) continue
      if (toHex(integration) !== address) continue
      decided.push({
        update: {
          chainId: toNumber(chain_id),
          txHash: toHex(tx_hash),
          ordinal: toNumber(ordinal),
          id: row.id,
          fingerprint: toHex(row.fingerprint),
          outcome: row.outcome as MovedUpdate['outcome'],
          reason: unpack<string>(row.reason),
          version: toNullableNumber(row.version),
          content,
        },
      })
    }
    yield [...decided, ...waiting]
  }
}

const columns = listColumns({
  chain_id: 'integer',
  tx_hash: 'hex',
  ordinal: 'integer',
  id: 'text',
  fingerprint: 'hex',
  outcome: 'text',
  reason: 'text',
  version: 'integer',
  body: 'text',
})

function toValues({ chainId, txHash, ordinal, id, fingerprint, outcome, reason, version, content }: MovedUpdate) {
  return [chainId, txHash, ordinal, id, fingerprint, outcome, pack(reason), version, pack(content)]
}

/** Stores updates; a stored one with the same fingerprint gets the new outcome. Resolves the written ids. */
async function putUpdates(db: Connection, address: string, updates: readonly MovedUpdate[]): Promise<string[]> {
  const updatesTable = db.dialect.name('updates')
  const text: StatementText = (parameter) => `insert into ${updatesTable}
      (id, fingerprint, payment_id, outcome, reason, version, body)
    select v.id, v.fingerprint, p.id, v.outcome, v.reason, v.version, v.body
    from v join ${db.dialect.name('payments')} as p
      on p.tx_hash = v.tx_hash and p.chain_id = v.chain_id and p.ordinal = v.ordinal
    where p.integration = ${parameter(parseHex(address))} order by v.id
    on conflict (id) do update set payment_id = excluded.payment_id, outcome = excluded.outcome,
      reason = excluded.reason, version = excluded.version, body = excluded.body, chain_id = null, tx_hash = null
    where ${updatesTable}.fingerprint = excluded.fingerprint returning id`
  const stored = await runBulk<{ id: string }>(db, columns, updates.map(toValues), text)
  return stored.map(({ id }) => id)
}

/** Ids of payments that one page examines, of all integrations. */
const pageSize = 500

export function createMoveStore(engine: Engine): MoveStore {
  const { read, transaction } = engine
  return {
    async *payments(address) {
      for await (const range of listIdRanges(read)) {
        const payments = await transaction((db) => lockPayments(db, address, range))
        if (payments.length > 0)
          yield payments.map(({ id: _id, integrationAddress: _address, closed: _closed, ...moved }) => moved)
      }
    },
    updates: (address) => readUpdates(read, address),
    async *unnotified(address) {
      const lowest = await transaction((db) => findLowestReplayable(db))
      for await (const range of listIdRanges(read)) {
        const versions = await findUnnotified(read, address, { ...range, lowest })
        if (versions.length > 0) yield versions
      }
    },
    async countLeased(address) {
      const row = await read
        .selectFrom('outbox')
        .select(({ fn }) => fn.countAll<Integer>().as('leased'))
        .where('lane', 'in', [0, 1, 2])
        .where('integration', '=', parseHex(address))
        .where('claim_token', 'is not', null)
        .where('due_at', '>', read.dialect.now())
        .executeTakeFirstOrThrow()
      return toNumber(row.leased)
    },
    async createWritersEndedCheck() {
      const { next } = await readRunningTransactions(read)
      return async () => BigInt((await readRunningTransactions(read)).oldest) >= BigInt(next)
    },
    transaction: (work) =>
      transaction((db) =>
        work({
          find: (keys) => lockPaymentsByKey(db, keys),
          replace: (address, payments) => replacePayments(db, address, payments),
          putUpdates: (address, updates) => putUpdates(db, address, updates),
          notify: (address, snapshotIds) => notifyVersions(db, address, snapshotIds),
        }),
      ),
  }
}

/** Yields ranges of all payments' ids: each page by integration would sort all payments of the integration. */
async function* listIdRanges(read: Connection): AsyncGenerator<{ readonly after: number; readonly upTo: number }> {
  const { last } = await read
    .selectFrom('payments')
    .select(({ fn }) => fn.max('id').as('last'))
    .executeTakeFirstOrThrow()
  for (let after = 0; after < toNumber(last ?? 0); after += pageSize) yield { after, upTo: after + pageSize }
}

async function findUnnotified(
  read: Connection,
  address: string,
  range: { readonly after: number; readonly upTo: number; readonly lowest: number },
): Promise<UnnotifiedVersion[]> {
  const rows = await read
    .selectFrom('payments as p')
    .innerJoin('snapshots as s', 's.payment_id', 'p.id')
    .select(['s.id', 's.version', 'p.chain_id', 'p.tx_hash', 'p.ordinal'])
    .where('p.id', '>', range.after)
    .where('p.id', '<=', range.upTo)
    .where('p.integration', '=', parseHex(address))
    .where('p.is_primary', '=', 1)
    .where('s.integration', 'is', null)
    .where('s.id', '>=', range.lowest)
    .orderBy('s.id')
    .execute()
  return rows.map((row) => ({
    id: String(row.id),
    version: toNumber(row.version),
    chainId: toNumber(row.chain_id),
    txHash: toHex(row.tx_hash),
    ordinal: toNumber(row.ordinal),
  }))
}

/** The number of the next transaction that writes, and of the oldest that runs. */
async function readRunningTransactions(read: Connection): Promise<{ next: string; oldest: string }> {
  const [row] = await run<{ next: string; oldest: string }>(read, () => read.dialect.runningTransactions)
  if (row === undefined) throw new TypeError('The statement of running transactions returned no row.')
  return row
}
