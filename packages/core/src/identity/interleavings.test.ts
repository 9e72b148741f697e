/** Requests, proofs, crashes, faults and webhooks in any order. Source: docs/decisions/identity.md. */
import { testInterleavings } from '../../test/support/interleaving-setup.js'

testInterleavings({ from: 1, count: 40 })
