export * from '../operators/errors.js'
export { operatorRoles, parseOperatorName } from '../operators/parse-operator.js'
export { passphraseLength, type ScryptCost } from '../operators/passphrase.js'
export { operatorActor } from '../operators/sessions.js'
