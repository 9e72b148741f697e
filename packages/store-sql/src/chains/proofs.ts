/** Stores which blocks of a chain were read and at which proof level. @module */
import type { ChainReads, RouterCoverage } from '@payment-integration/core/internal'
import type { ProofLevel, ProvenRange } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import type { Connection } from '../engine.js'
import { checkInteger, pack, toNullableNumber, toNumber, unpack } from '../internal/values.js'
import type { Tables } from '../schema/tables.js'
import { waitingDeposits } from './deposits.js'

export async function setCoverage(
  db: Connection,
  chainId: number,
  { router, from, to }: RouterCoverage,
): Promise<void> {
  const range = {
    from_block: checkInteger(from, 'from'),
    // The range of a router that is not read yet ends one block before its start.
    to_block: to === null ? null : checkInteger(to, 'to', Math.max(0, from - 1)),
  }
  await db
    .insertInto('coverage')
    .values({ chain_id: checkInteger(chainId, 'chainId'), router, ...range })
    .onConflict((conflict) => conflict.columns(['chain_id', 'router']).doUpdateSet(range))
    .execute()
}

const rangeColumns = ['from_block', 'to_block', 'proof', 'node'] as const

function toProvenRange(row: Pick<Tables['proofs'], (typeof rangeColumns)[number]>): ProvenRange {
  return {
    from: toNumber(row.from_block),
    to: toNumber(row.to_block),
    proof: row.proof as ProofLevel,
    node: unpack<string>(row.node),
  }
}

async function listProofs(db: Connection, chainId: number, limit: number): Promise<ProvenRange[]> {
  const rows = await db
    .selectFrom('proofs')
    .select(rangeColumns)
    .where('chain_id', '=', checkInteger(chainId, 'chainId'))
    .orderBy('from_block', 'desc')
    .limit(checkInteger(limit, 'limit', 1))
    .execute()
  return rows.map(toProvenRange)
}

/** The caller must have locked the chain. */
export async function addProof(db: Connection, chainId: number, proven: ProvenRange): Promise<void> {
  checkInteger(chainId, 'chainId')
  checkInteger(proven.from, 'from')
  checkInteger(proven.to, 'to', proven.from)
  const near = await findRangesNear(db, chainId, proven)
  const [first] = near
  if (near.length === 1 && first !== undefined && isSameProof(first, proven) && first.from <= proven.from) {
    if (first.to < proven.to) await setEnd(db, chainId, first.from, proven.to)
    return
  }
  const ranges = mergeRanges(near, proven)
  const old = near.map(({ from }) => from)
  if (old.length > 0)
    await db.deleteFrom('proofs').where('chain_id', '=', chainId).where('from_block', 'in', old).execute()
  await db
    .insertInto('proofs')
    .values(
      ranges.map(({ from, to, proof, node }) => ({
        chain_id: chainId,
        from_block: from,
        to_block: to,
        proof,
        node: pack(node),
      })),
    )
    .execute()
}

const strength: Readonly<Record<ProofLevel, number>> = { none: 0, bloom: 1, root: 2 }

/** Stores the level where no weaker one is stored. The caller must have locked the chain. */
export async function addWeakerProof(db: Connection, chainId: number, proven: ProvenRange): Promise<void> {
  checkInteger(chainId, 'chainId')
  checkInteger(proven.to, 'to', checkInteger(proven.from, 'from'))
  const near = await findRangesNear(db, chainId, proven)
  let { from } = proven
  const parts: ProvenRange[] = []
  for (const weaker of near.filter(({ proof }) => strength[proof] <= strength[proven.proof])) {
    if (weaker.from > from) parts.push({ ...proven, from, to: weaker.from - 1 })
    from = Math.max(from, weaker.to + 1)
  }
  if (from <= proven.to) parts.push({ ...proven, from })
  for (const part of parts) await addProof(db, chainId, part)
}

export async function forgetProofs(db: Connection, chainId: number, above: number): Promise<void> {
  await db.deleteFrom('proofs').where('chain_id', '=', chainId).where('from_block', '>', above).execute()
  const [last] = await listProofs(db, chainId, 1)
  if (last !== undefined && last.to > above) await setEnd(db, chainId, last.from, above)
}

/** The ranges that a range overlaps or touches, ascending. At most one begins before it, since ranges never overlap. */
async function findRangesNear(db: Connection, chainId: number, { from, to }: ProvenRange): Promise<ProvenRange[]> {
  const before = db
    .selectFrom('proofs')
    .select(({ fn }) => fn.max('from_block').as('from_block'))
    .where('chain_id', '=', chainId)
    .where('from_block', '<', from)
  const rows = await db
    .selectFrom('proofs')
    .select(rangeColumns)
    .where('chain_id', '=', chainId)
    .where('from_block', '>=', sql<number>`coalesce(${before}, 0)`)
    .where('from_block', '<=', to + 1)
    .where('to_block', '>=', from - 1)
    .orderBy('from_block')
    .execute()
  return rows.map(toProvenRange)
}

async function setEnd(db: Connection, chainId: number, from: number, to: number): Promise<void> {
  await db
    .updateTable('proofs')
    .set({ to_block: to })
    .where('chain_id', '=', chainId)
    .where('from_block', '=', from)
    .execute()
}

const isSameProof = (one: ProvenRange, other: ProvenRange) => one.proof === other.proof && one.node === other.node

function mergeRanges(near: readonly ProvenRange[], proven: ProvenRange): ProvenRange[] {
  let { from, to } = proven
  const remainder: ProvenRange[] = []
  for (const range of near)
    if (isSameProof(range, proven)) {
      from = Math.min(from, range.from)
      to = Math.max(to, range.to)
    } else {
      if (range.from < proven.from) remainder.push({ ...range, to: Math.min(range.to, proven.from - 1) })
      if (range.to > proven.to) remainder.push({ ...range, from: Math.max(range.from, proven.to + 1) })
    }
  return [...remainder, { ...proven, from, to }]
}

export function createChainReads(db: Connection): ChainReads {
  return {
    proofs: (chainId, limit) => listProofs(db, chainId, limit),
    async coverage(chainId) {
      const rows = await db
        .selectFrom('coverage')
        .select(['router', 'from_block', 'to_block'])
        .where('chain_id', '=', checkInteger(chainId, 'chainId'))
        .orderBy('router')
        .execute()
      return rows.map((row) => ({
        router: row.router,
        from: toNumber(row.from_block),
        to: toNullableNumber(row.to_block),
      }))
    },
    waitingDeposits: (query) => waitingDeposits(db, query),
  }
}
