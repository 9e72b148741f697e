/** Simulates the chains of a server in development. @module */
import type { StartOptions } from '@payment-integration/server/service'
import type { TriggerIdentity } from '@payment-integration/testing/identity-provider'
import type { Io } from './io.js'

/**
 * Makes the option `simulateChains` of a server.
 * @param identity - For the scenario `kyc`; undefined: it fails.
 */
export function simulateChainsWith(
  io: Pick<Io, 'randomBytes'>,
  identity: TriggerIdentity | undefined,
): NonNullable<StartOptions['simulateChains']> {
  return async (world) => {
    const { createSimulatedChains } = await import('@payment-integration/testing/twin')
    const seed = Buffer.from(io.randomBytes(4)).readUInt32BE(0)
    return createSimulatedChains({ ...world, seed, identity })
  }
}
