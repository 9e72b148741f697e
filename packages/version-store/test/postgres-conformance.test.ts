import { onClient, onPool, onPools, onPostgresJs } from './postgres-drivers.js'
import { postgresConformance } from './postgres-suite.js'

const often = [onPool, onPostgresJs]
postgresConformance(process.env['CI'] === undefined ? often : [...often, onPools, onClient])
