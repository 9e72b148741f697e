export { connectionDefaults, type ProviderConnection, type RequestToSign, signRequest } from '../connection.js'
export * from '../errors.js'
export { type MintOptions, mintShareToken } from '../mint-share-token.js'
