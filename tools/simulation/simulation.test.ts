import { testSeeds } from './test-seeds.js'

testSeeds({ quick: { count: 25, perTest: 25 }, sqlite: 2 })
