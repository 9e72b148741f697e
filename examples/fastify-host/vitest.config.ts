import { project } from '../../vitest.projects.js'

export default project('example-fastify-host', import.meta.dirname, { include: ['**/*.test.ts'] })
