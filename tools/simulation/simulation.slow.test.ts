import { testSeeds } from './test-seeds.js'

testSeeds({ quick: { count: 200, perTest: 200 }, sqlite: 10 })
