import { describe } from 'vitest'
import { postgresMissing } from '../../store-sql/test/postgres.js'

/** Groups tests that need PostgreSQL. Where it is missing they are skipped, and the title says why. */
export function describeOnPostgres(title: string, tests: () => void): void {
  describe.skipIf(postgresMissing)(postgresMissing === null ? title : `${title} (skipped: ${postgresMissing})`, tests)
}
