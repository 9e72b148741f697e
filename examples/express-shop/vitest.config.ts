import { packageTests } from '../../vitest.package.js'

export default packageTests('example-express-shop', { timeoutMs: 60_000 })
