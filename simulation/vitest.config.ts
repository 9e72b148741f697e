import { packageTests } from '../vitest.package.js'

const project = packageTests('simulation', { timeoutMs: 300_000 })

export default { ...project, test: { ...project.test, include: ['**/*.test.ts'] } }
