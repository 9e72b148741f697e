import { project } from '../../vitest.projects.js'

export default project('example-next-app', import.meta.dirname, { include: ['**/*.test.ts'] })
