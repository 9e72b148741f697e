import { dialectConformance } from './conformance/store-conformance.js'
import { onEmptiedPostgres } from './support/migrated-databases.js'

onEmptiedPostgres((open) => dialectConformance('PostgreSQL', open))
