/**
 * Runs the programs in one runtime. A program gets the packages and the runner's data, and yields its verdicts:
 * texts that must be equal everywhere. Programs use only features that all runtimes have.
 * @module
 */
import { deliveryVectors } from './delivery-vectors.mjs'
import { serveRequests } from './endpoint.mjs'
import { identityVectors } from './identity-vectors.mjs'
import { memoryStore } from './memory-store.mjs'
import { readPayments } from './read-payments.mjs'
import { receiveDeliveries } from './receive-deliveries.mjs'
import { signatureVectors } from './signature-vectors.mjs'

const programs = {
  signatureVectors,
  deliveryVectors,
  identityVectors,
  receiveDeliveries,
  serveRequests,
  memoryStore,
  readPayments,
}

/**
 * Runs the programs that the input names.
 * @param {Record<string, any>} packages - The exports of the installed packages, by a short name.
 * @param {{ programs: string[] }} input
 * @param {{ send: (init: RequestInit) => Promise<Response> }} runtime - `send` calls the endpoint that the runtime
 * serves.
 * @returns {Promise<Record<string, string[]>>} Verdicts by program; a program that throws has the error as its last
 * verdict.
 */
export async function runPrograms(packages, input, runtime) {
  const verdicts = {}
  for (const name of input.programs) {
    const results = []
    try {
      for await (const verdict of programs[name](packages, input, runtime)) results.push(verdict)
    } catch (error) {
      results.push(`threw ${error?.stack ?? error}`)
    }
    verdicts[name] = results
  }
  return verdicts
}
