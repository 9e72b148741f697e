/** Options of `dev`, and their defaults. @module */

/** Options of the command `dev`. */
export interface DevOptions {
  /** Time between the starts of two payments, in milliseconds. @default 3000, or 200 with `untilIdle` */
  readonly everyMs?: number | undefined
  /** Number of payments to make. @default no limit */
  readonly payments?: number | undefined
  /** Stop when every payment is verified. Needs `payments`. @default false */
  readonly untilIdle?: boolean | undefined
  /** Time limit of a run with `untilIdle`, in milliseconds. @default 60000 */
  readonly deadlineMs?: number | undefined
  /** Seed of amounts and choices. @default random */
  readonly seed?: number | undefined
  /** Port of the API. @default PI_PORT, else the first free port from 4747 */
  readonly port?: number | undefined
  /** Keep the files. @default false */
  readonly keep?: boolean | undefined
  /** Your receiver: deliveries go to it, and the built-in one checks them. @default the built-in receiver alone */
  readonly forwardTo?: string | undefined
  /** File for the five values of an integrator, with `forwardTo`; false: none. @default .env.local */
  readonly env?: string | false | undefined
  /** One JSON object per line. @default false */
  readonly json?: boolean | undefined
  /** Print only the header, problems and the summary. @default false */
  readonly quiet?: boolean | undefined
}

/** Defaults of {@link DevOptions}. */
export const devDefaults = {
  everyMs: 3_000,
  everyMsUntilIdle: 200,
  deadlineMs: 60_000,
  port: 4747,
  env: '.env.local',
} as const
