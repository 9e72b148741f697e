import { testInterleavings } from '../../test/support/interleaving-setup.js'

testInterleavings({ from: 41, count: 960 })
