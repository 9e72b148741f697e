import { onEmptiedPostgres } from './support/migrated-databases.js'
import { useCases } from './use-cases.js'

onEmptiedPostgres((open) => useCases('PostgreSQL', open))
