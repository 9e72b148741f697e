import { onClient, onPool, onPools, onPostgresJs } from './postgres-drivers.js'
import { postgresConformance } from './postgres-suite.js'

postgresConformance([onPool, onPostgresJs, onPools, onClient])
