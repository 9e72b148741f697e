/** Rotates an API secret, and ends the previous one. Source: docs/decisions/secrets.md. @module */
import { IntegrationError } from '../errors.js'
import type { IntegrationCommands } from '../integration-types.js'
import { assertWhole } from '../internal/assert-whole.js'
import { parseAddress } from '../payments/parameters.js'
import { hashApiSecret } from '../secrets/hash-api-secret.js'
import { issueApiSecret } from '../secrets/issue.js'
import type { SigningSecretDeps } from './signing-secrets.js'

/** Builds the commands. */
export function createApiSecretCommands({
  audited,
  keys,
  clock,
  random,
}: SigningSecretDeps): Pick<IntegrationCommands, 'rotateApiSecret' | 'endPreviousApiSecret'> {
  return {
    async rotateApiSecret(input, { graceMs = 0, keepsPrevious = false } = {}) {
      assertWhole('graceMs', graceMs, 0)
      const address = parseAddress(input)
      const apiSecret = issueApiSecret(random)
      const until = clock.now() + graceMs
      await audited(async (tx, note) => {
        const found = await tx.integrations.find(address)
        if (found === null) throw new IntegrationError('ERR_INTEGRATION_NOT_FOUND', address)
        const { previousApiSecret: former } = found
        if (keepsPrevious && former !== null && clock.now() < former.until)
          throw new IntegrationError('ERR_PREVIOUS_API_SECRET', address)
        const previousApiSecret = graceMs === 0 || found.apiSecret === null ? null : { ...found.apiSecret, until }
        const rotated = { apiSecret: hashApiSecret(keys.current, address, apiSecret), previousApiSecret }
        // Two rotations at once would store the same previous secret, and one new secret would be lost.
        const onlyIf = { apiSecretHash: found.apiSecret?.hash ?? null }
        const written = await tx.integrations.update(address, rotated, onlyIf)
        if (written === null) throw new IntegrationError('ERR_INTEGRATION_CHANGED', address)
        note({ action: 'integration.api_secret_rotated', subject: address, details: { graceMs } })
      })
      return { apiSecret }
    },
    async endPreviousApiSecret(input) {
      const address = parseAddress(input)
      await audited(async (tx, note) => {
        const found = await tx.integrations.find(address)
        if (found === null) throw new IntegrationError('ERR_INTEGRATION_NOT_FOUND', address)
        const { previousApiSecret: previous } = found
        if (previous === null || previous.until <= clock.now())
          throw new IntegrationError('ERR_NO_PREVIOUS_SECRET', address)
        await tx.integrations.update(address, { previousApiSecret: null })
        note({ action: 'integration.previous_api_secret_ended', subject: address })
      })
    },
  }
}
