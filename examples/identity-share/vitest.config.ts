import { project } from '../../vitest.projects.js'

export default project('example-identity-share', import.meta.dirname, { include: ['**/*.test.ts'] })
