/** Names the rows of the console's databases: the same in JavaScript and in SQL. @module */

/** The newest block time, in unix milliseconds. */
export const newest = 1_760_000_000_000
/** Payments come once a second. */
export const everyMs = 1_000
/** Versions of each payment, with one delivery each. */
export const versions = 5
/** Integrations; the first has a fifth of all payments, the last very few. */
export const integrationCount = 200
/** Chains by their share; the last has one payment in 100,000. */
export const chainIds: readonly number[] = [10, 1, 137, 8453, 5]
/** A wallet that sent every twentieth payment, to all integrations. */
export const hotWallet = `0x${'c3'.repeat(20)}`

/** The address of an integration, from 0. */
export const integrationAt = (n: number): string => `0x${(n + 1).toString(16).padStart(40, '0')}`

/** Hash of the transaction of a payment: ids go from 1, the oldest. */
export function txHashAt(id: number): string {
  const scattered = ((id * 2_654_435_761) % 4_294_967_296).toString(16).padStart(8, '0')
  return `0x${scattered}${id.toString(16).padStart(56, '0')}`
}

/** Hash of the transaction of its source; only of every 33rd payment. */
export const sourceHashAt = (id: number): string => txHashAt(id).replace('0x', '0xaa').slice(0, 66)
/** A payment with such a source. */
export const withSource = (near: number): number => near - (near % 33) + 5

/** Block time of a payment among so many, in unix milliseconds. */
export const timestampAt = (id: number, payments: number): number => newest - (payments - id) * everyMs

/** The chain of a payment. */
export function chainAt(id: number): number {
  if (id % 100_000 === 7) return 5
  const tenth = id % 10
  return tenth < 4 ? 10 : tenth < 6 ? 1 : tenth < 8 ? 137 : 8453
}

/** The wallet of a payment that the {@link hotWallet} did not send. */
export const senderAt = (id: number): string => `0x${(id % 50_021).toString(16).padStart(40, '0')}`

/** What SQL writes differently in the two databases. */
export interface SqlWords {
  /** Lowercase hexadecimal digits of a number, with zeros in front. */
  hex(number: string, width: number): string
  /** Hexadecimal digits of the bytes of a number's eight decimal digits. */
  digits(number: string): string
  bytes(text: string): string
  /** The bytes of `0x` text. */
  unhex(text: string): string
  /** A table with one column. */
  numbers(from: number, to: number, column: string): string
  /** Text before the name of a table. */
  readonly schema: string
}

/** SQLite. */
export const sqliteWords: SqlWords = {
  hex: (number, width) => `printf('%0${width}x', ${number})`,
  digits: (number) => `hex(printf('%08d', ${number}))`,
  bytes: (text) => `cast(${text} as blob)`,
  unhex: (text) => `unhex(substr(${text}, 3))`,
  numbers: (from, to, column) =>
    `(with recursive s(${column}) as (select ${from} union all select ${column} + 1 from s where ${column} < ${to}) select * from s)`,
  schema: '',
}

/** PostgreSQL. */
export const postgresWords: SqlWords = {
  hex: (number, width) => `lpad(to_hex((${number})::bigint), ${width}, '0')`,
  digits: (number) => `encode(convert_to(lpad((${number})::text, 8, '0'), 'UTF8'), 'hex')`,
  bytes: (text) => `convert_to(${text}, 'UTF8')`,
  unhex: (text) => `decode(substr(${text}, 3), 'hex')`,
  numbers: (from, to, column) => `(select ${column}::bigint from generate_series(${from}, ${to}) as s(${column}))`,
  schema: 'payment_integration.',
}
