import { testPromises } from './real-promises.js'

testPromises({ count: 100 })
