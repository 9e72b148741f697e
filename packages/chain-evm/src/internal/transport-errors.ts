/** Recognises errors of viem's transports by name: loading viem for its classes takes a quarter of a second. @module */

/** The node answered with a JSON-RPC error. */
export interface TransportRpcError extends Error {
  readonly code: unknown
  readonly details: unknown
}

/** The node refused the request as a whole, or could not be reached. */
export interface TransportHttpError extends Error {
  readonly status?: number | undefined
  readonly headers?: Pick<Headers, 'get'> | undefined
}

/** The answer was longer than was allowed. */
export interface TransportSizeError extends Error {
  readonly maxSize: unknown
}

/** Whether viem reports a JSON-RPC error. */
export function isTransportRpcError(error: Error): error is TransportRpcError {
  return error.name === 'RpcRequestError' && 'details' in error
}

/** Whether viem reports a status of HTTP, or none at all. */
export function isTransportHttpError(error: Error): error is TransportHttpError {
  return error.name === 'HttpRequestError'
}

/** Whether viem stopped reading. */
export function isTransportSizeError(error: Error): error is TransportSizeError {
  return error.name === 'ResponseBodyTooLargeError' && 'maxSize' in error
}
