import { severalUpdates } from './several-updates.js'
import { onEmptiedPostgres } from './support/migrated-databases.js'
import { useCaseRaces } from './use-case-races.js'
import { useCases } from './use-cases.js'

onEmptiedPostgres((open) => {
  useCases('PostgreSQL', open)
  severalUpdates('PostgreSQL', open)
  useCaseRaces('PostgreSQL', open)
})
