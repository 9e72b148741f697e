import { testSeeds } from './test-seeds.js'

testSeeds({ quick: { count: 1_000, perTest: 250 }, sqlite: 40 })
