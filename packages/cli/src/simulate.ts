/** Simulates the chains and, where none is configured, the identity provider of a server in development. @module */
import type { StartOptions } from '@payment-integration/server'
import type { TriggerIdentity } from '@payment-integration/testing/twin'
import type { Io } from './io.js'

/**
 * Makes the option `simulate` of a server.
 * @param identity - For the scenario `kyc`; undefined: it fails.
 */
export function simulateWith(
  io: Pick<Io, 'randomBytes'>,
  identity: (() => Promise<TriggerIdentity>) | undefined,
): NonNullable<StartOptions['simulate']> {
  return async (world) => {
    const { createSimulation } = await import('@payment-integration/testing/twin')
    const seed = Buffer.from(io.randomBytes(4)).readUInt32BE(0)
    return createSimulation({ ...world, seed, ...(identity === undefined ? {} : { identity: await identity() }) })
  }
}
