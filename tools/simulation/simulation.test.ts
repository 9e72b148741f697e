import { testSeeds } from './test-seeds.js'

testSeeds({ memory: { count: 25, perTest: 25 }, sqlite: 2 })
