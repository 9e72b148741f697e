import { onClient, onPools } from './postgres-drivers.js'
import { postgresConformance } from './postgres-suite.js'

postgresConformance([onPools, onClient])
