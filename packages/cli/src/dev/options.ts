/** Options of `dev`, and their defaults. @module */

/** What `dev` was asked for. */
export interface DevOptions {
  /** Time between the starts of two payments, in milliseconds. @default 3000, or 200 with `untilIdle` */
  readonly everyMs?: number | undefined
  /** How many payments to make. @default without end */
  readonly payments?: number | undefined
  /** End when every payment is verified. Needs `payments`. @default false */
  readonly untilIdle?: boolean | undefined
  /** With `untilIdle`: how long the whole run may take, in milliseconds. @default 60000 */
  readonly deadlineMs?: number | undefined
  /** Decides amounts and choices. @default random */
  readonly seed?: number | undefined
  /** Port of the API. @default PI_PORT, else the first free one from 4747 on */
  readonly port?: number | undefined
  /** Leave the files behind. @default false */
  readonly keep?: boolean | undefined
  /** One JSON object per line. @default false */
  readonly json?: boolean | undefined
  /** Print the header, problems and the summary only. @default false */
  readonly quiet?: boolean | undefined
}

/** Defaults of {@link DevOptions}. */
export const devDefaults = { everyMs: 3_000, everyMsUntilIdle: 200, deadlineMs: 60_000, port: 4747 } as const
