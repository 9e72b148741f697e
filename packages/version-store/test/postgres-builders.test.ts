import { inCallersTransaction, onDrizzle, onDrizzlePostgresJs, onKysely } from './postgres-drivers.js'
import { postgresConformance } from './postgres-suite.js'

const often = [onKysely]
const others = [onDrizzle, onDrizzlePostgresJs, inCallersTransaction]
postgresConformance(process.env['CI'] === undefined ? often : [...often, ...others])
