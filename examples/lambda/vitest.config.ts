import { packageTests } from '../../vitest.package.js'

export default packageTests('example-lambda', { timeoutMs: 60_000 })
