import { project } from '../../vitest.projects.js'

export default project('example-legacy-verify', import.meta.dirname, { include: ['**/*.test.ts'] })
