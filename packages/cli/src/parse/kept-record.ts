/** A place in the audit log that was kept elsewhere, on the command line. @module */
import { InvalidArgumentError } from 'commander'

/** A record of the audit log by its number and hash. */
export interface KeptRecord {
  readonly seq: number
  /** 64 lowercase hex digits. */
  readonly hash: string
}

/**
 * Reads `<seq>:<hash>`, as `audit verify` prints it.
 * @throws InvalidArgumentError When it is anything else.
 */
export function parseKeptRecord(text: string): KeptRecord {
  const [, seq, hash] = /^([1-9]\d{0,14}):([0-9a-f]{64})$/.exec(text) ?? []
  if (seq === undefined || hash === undefined)
    throw new InvalidArgumentError('Expected a number and a hash, as audit verify prints them: 12:9f2c….')
  return { seq: Number(seq), hash }
}
