import { testSeeds } from './test-seeds.js'

testSeeds({ memory: { count: 2_000, perTest: 250 }, sqlite: 60 })
