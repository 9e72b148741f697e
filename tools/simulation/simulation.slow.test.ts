import { testSeeds } from './test-seeds.js'

testSeeds({ memory: { count: 1_000, perTest: 250 }, sqlite: 40 })
