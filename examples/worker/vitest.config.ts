import { project } from '../../vitest.projects.js'

export default project('example-worker', import.meta.dirname, { include: ['**/*.test.ts'] })
