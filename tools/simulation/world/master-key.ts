/** The key of every simulated deployment. @module */
import { parseMasterKey } from '@payment-integration/core'

/** Nothing secret. */
export const simulatedMasterKey = parseMasterKey('0123456789abcdef'.repeat(4))
