/** The numbers of audit records: each tells its audit chain. Source: docs/decisions/audit.md. @module */

/** The audit chain of a record. */
export const auditChainOf = (seq: number, chains: number): number => seq % chains

/** The number of the record at a place of a chain, from 1. With one chain both are the same. */
export const auditSeq = (chain: number, place: number, chains: number): number =>
  (place - 1) * chains + (chain === 0 ? chains : chain)

/** How many records of a chain have a number up to this one; of a record's own chain, its place. */
export const auditPlace = (chain: number, upToSeq: number, chains: number): number =>
  Math.floor((upToSeq - auditSeq(chain, 1, chains)) / chains) + 1

/** How many records were ever written up to these, one of each chain. */
export const auditTotal = (seqs: readonly number[], chains: number): number =>
  seqs.reduce((total, seq) => total + auditPlace(auditChainOf(seq, chains), seq, chains), 0)
