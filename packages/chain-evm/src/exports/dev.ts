export { type Anvil, type AnvilOptions, startAnvil } from '../dev/anvil.js'
export type { DevChainErrorCode, DevDeployment } from '../dev/dev-chain.js'
export { DevChainError, deployDevRouter, deriveDevAccount } from '../dev/dev-chain.js'
export { createPayer, type Payer } from '../dev/payer.js'
