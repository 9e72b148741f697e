import { project } from '../../vitest.projects.js'

export default project('example-express-shop', import.meta.dirname, { include: ['**/*.test.ts'] })
