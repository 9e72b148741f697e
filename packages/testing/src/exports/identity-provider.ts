export type { IdentityProviderOptions } from '../identity-provider/authenticate.js'
export type { ProviderFault } from '../identity-provider/control.js'
export { type TriggerIdentity, triggerIdentity } from '../identity-provider/control.js'
export {
  createIdentityProvider,
  type LocalIdentityProvider,
  startIdentityProvider,
  type TestIdentityProvider,
} from '../identity-provider/provider.js'
