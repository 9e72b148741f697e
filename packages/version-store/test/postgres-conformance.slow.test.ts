import { onClient, onPools, onPostgresJs } from './postgres-drivers.js'
import { postgresConformance } from './postgres-suite.js'

postgresConformance([onPostgresJs, onPools, onClient])
