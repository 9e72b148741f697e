import { project } from '../../vitest.projects.js'

export default project('example-receiver', import.meta.dirname, { include: ['**/*.test.ts'] })
