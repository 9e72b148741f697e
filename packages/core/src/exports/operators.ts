export * from '../operators/errors.js'
export { operatorActor } from '../operators/open-session.js'
export { operatorRoles, parseOperatorName } from '../operators/parse-operator.js'
export { passphraseLength, type ScryptCost } from '../operators/passphrase.js'
