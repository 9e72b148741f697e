import { expect, test } from 'vitest'
import { firstFinding, seedsAsked } from './first-finding.js'
import { type Mutant, mutants } from './reference/mutants.js'
import { referenceSystem } from './reference/system.js'

// The seed that found it last comes first; when histories have changed, it is searched for.
test.each(Object.entries(mutants) as [Mutant, number][])('%s: the oracle finds it', async (mutant, seed) => {
  const finding = await firstFinding([seed, ...seedsAsked()], () => referenceSystem(mutant))
  expect(finding).not.toBeNull()
})
