export { connectionDefaults, type ProviderConnection } from '../connection.js'
export * from '../errors.js'
export { type MintOptions, mintShareToken } from '../mint-share-token.js'
export { type RequestToSign, signRequest } from '../sign-request.js'
