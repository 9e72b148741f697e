import { project } from '../../vitest.projects.js'

export default project('example-lambda', import.meta.dirname, { include: ['**/*.test.ts'] })
