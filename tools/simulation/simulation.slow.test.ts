import { testSeeds } from './test-seeds.js'

testSeeds({ quick: { count: 100, perTest: 100 }, sqlite: 10 })
