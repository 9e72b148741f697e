import { packageTests } from '../../vitest.package.js'

export default packageTests('example-fastify-host', { timeoutMs: 60_000 })
