export { type Anvil, AnvilExitError, AnvilMissingError, type AnvilOptions, startAnvil } from '../dev/anvil.js'
export { type DevDeployment, deployDevRouter } from '../dev/deploy.js'
export { DevChainError, devAccount } from '../dev/dev-chain.js'
export { createPayer, type Payer } from '../dev/payer.js'
