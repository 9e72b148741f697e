import { testSeeds } from './test-seeds.js'

testSeeds({ memory: { count: 50, perTest: 50 }, sqlite: 3 })
