import { onPool } from './postgres-drivers.js'
import { postgresConformance } from './postgres-suite.js'

postgresConformance([onPool])
