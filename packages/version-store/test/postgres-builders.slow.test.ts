import { inCallersTransaction, onDrizzle, onDrizzlePostgresJs, onKysely } from './postgres-drivers.js'
import { postgresConformance } from './postgres-suite.js'

postgresConformance([onKysely, onDrizzle, onDrizzlePostgresJs, inCallersTransaction])
