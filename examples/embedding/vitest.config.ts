import { project } from '../../vitest.projects.js'

export default project('example-embedding', import.meta.dirname, { include: ['**/*.test.ts'] })
