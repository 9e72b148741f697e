import { testPromises } from './real-system.js'

testPromises({ count: 10 })
