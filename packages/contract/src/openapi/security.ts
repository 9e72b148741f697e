/**
 * How callers prove who they are. Source: docs/interface.md 5, 6; docs/decisions/legacy.md,
 * docs/decisions/processor-updates.md.
 * @module
 */
import { signatureHeader } from '../headers.js'
import { signatureToleranceSeconds } from '../limits.js'
import type { SecurityScheme } from './types.js'

/** The schemes of the document. */
export const securitySchemes = {
  integration: {
    type: 'http',
    scheme: 'basic',
    description:
      'The user name is the integration address, the password its API secret. The raw `address:secret` form is rejected.',
  },
  legacyBearer: { type: 'http', scheme: 'bearer', description: 'The API key of the legacy endpoints.' },
  legacyKey: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'The API key of the legacy endpoints, bare: without the word Bearer.',
  },
  processorSignature: {
    type: 'apiKey',
    in: 'header',
    name: signatureHeader,
    description: `\`t=<unix seconds>,v1=<64 lowercase hex characters>\`: the HMAC-SHA256 of the value of \`t\`, a dot and the raw body, keyed with the secret of the processor. \`t\` may differ by ${signatureToleranceSeconds} seconds from the clock of the service.`,
  },
} as const satisfies Readonly<Record<string, SecurityScheme>>

/** Basic authentication of an integration. */
export const asIntegration = [{ integration: [] }]
/** An API key, in either form. */
export const withLegacyKey = [{ legacyBearer: [] }, { legacyKey: [] }]
/** A processor's signature. */
export const signedByProcessor = [{ processorSignature: [] }]
/** No authentication. */
export const open: readonly [] = []
