export { integrationActor } from '../integrations/sessions.js'
export { operatorRoles, parseOperatorName } from '../operators/commands.js'
export {
  LinkRejectedError,
  OidcRejectedError,
  OperatorError,
  OperatorInvalidError,
  PassphraseError,
  SignInLimitedError,
  SignInRejectedError,
} from '../operators/operator-store.js'
export { passphraseLength, type ScryptCost } from '../operators/passphrase.js'
export { operatorActor } from '../operators/sessions.js'
