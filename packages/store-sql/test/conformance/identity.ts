/** Registers the tests of identity. Source: the ports store-identity and identity-accounts. @module */
import { describe } from 'vitest'
import { identityAccountTests } from './identity-accounts.js'
import { identityLogTests } from './identity-logs.js'
import { identityPersonTests } from './identity-persons.js'
import { identityRedemptionTests } from './identity-redemptions.js'
import { identitySubjectTests } from './identity-subjects.js'
import { identityVerificationTests } from './identity-verifications.js'
import type { StoreTest } from './subject.js'
export function identityTests(adapter: string, test: StoreTest): void {
  describe(`${adapter}: subjects`, () => identitySubjectTests(test))
  describe(`${adapter}: persons`, () => identityPersonTests(test))
  describe(`${adapter}: verifications`, () => identityVerificationTests(test))
  describe(`${adapter}: redemptions`, () => identityRedemptionTests(test))
  describe(`${adapter}: logs of identity`, () => identityLogTests(test))
  describe(`${adapter}: accounts by e-mail address`, () => identityAccountTests(test))
}
