import { packageTests } from '../vitest.package.js'

const project = packageTests('simulation', { timeoutMs: 60_000 })

/**
 * The parts of the simulation. The seeds themselves are run by `npm run simulate` and `npm run soak`, which print the command that
 * replays a seed that fails.
 */
export default {
  ...project,
  test: {
    ...project.test,
    include: ['**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/simulation.test.ts', '**/simulate-seed.test.ts', '**/chaos.test.ts'],
  },
}
