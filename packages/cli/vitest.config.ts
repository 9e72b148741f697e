import { packageTests } from '../../vitest.package.js'

// Whole demo runs, with a chain and a server each, on machines that are busy with other tests.
export default packageTests('cli', { timeoutMs: 90_000 })
