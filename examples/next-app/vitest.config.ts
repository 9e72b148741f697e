import { packageTests } from '../../vitest.package.js'

export default packageTests('example-next-app', { timeoutMs: 60_000 })
