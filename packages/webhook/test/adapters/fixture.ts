/** The fixture of the cases in the table. @module */
import type { HandlerOptions } from '../../src/adapters/handler-options.js'
import type { WebhookError } from '../../src/errors.js'
import type { Snapshot } from '../../src/exports/index.js'
import { createTestDelivery, type TestDelivery, type TestDeliveryOptions } from '../../src/exports/testing.js'
import type { Host } from './host.js'

export const secret = 'whsec_of_the_adapters'

/** How long a test waits for what has to come, on a machine that is busy. */
export const patience = { timeout: 300_000 } as const

/** The values a case works with. */
export interface Bench {
  /** Starts the receiver; without `receive` it verifies and keeps the snapshot. */
  start(options?: Partial<HandlerOptions>, parser?: boolean): Promise<Host>
  readonly snapshots: Snapshot[]
  readonly errors: unknown[]
  readonly rejections: WebhookError[]
  readonly cure: RegExp
}

/** Facts that hold for every adapter, by their names. */
export type Cases = Readonly<Record<string, (bench: Bench) => Promise<void>>>

/** A delivery that the receiver takes, unless the options say otherwise. */
export function delivery(options: Partial<TestDeliveryOptions> = {}): Promise<TestDelivery> {
  return createTestDelivery({ secret, ...options })
}
