export * from '../operators/errors.js'
export { operatorRoles, parseOperatorName } from '../operators/parse-operator.js'
export { passphraseLength } from '../operators/passphrase.js'
export { operatorActor } from '../operators/sessions.js'
