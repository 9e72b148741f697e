/** The operator's commands that move an integration. Source: docs/decisions/cells.md. @module */
import type { MoveCommands } from '../move-types.js'
import type { Store } from '../ports/store.js'
import { createExport, type ExportDeps } from './export-integration.js'
import { createImport, type ImportDeps } from './import-integration.js'
import { MoveError } from './move-error.js'

/** The dependencies of the commands. */
export interface MoveDeps extends Omit<ExportDeps, 'moves' | 'clock'>, Omit<ImportDeps, 'moves'> {
  readonly store: Pick<Store, 'moves'>
}

/** Builds the commands. */
export function createMoveCommands({ store, ...deps }: MoveDeps): MoveCommands {
  const moves = () => {
    if (store.moves !== null) return store.moves
    throw new MoveError('ERR_MOVE_UNSUPPORTED', 'This store moves no integrations; use SQLite or PostgreSQL.')
  }
  return {
    export: async (...given) => createExport({ ...deps, moves: moves() })(...given),
    import: async (...given) => createImport({ ...deps, moves: moves() })(...given),
  }
}
