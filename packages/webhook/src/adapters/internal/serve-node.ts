/** The handler that Node's own server and the frameworks with its request and response share. @module */
import { type HandlerOptions, handlerSettings } from '../handler-options.js'
import type { NodeHandler, NodeResponse } from '../node-types.js'
import { type Answer, answer } from './answer.js'
import { drain, nodeSource } from './node-source.js'

/** @param cure - The line that helps when something consumed the body. */
export function serveNode(options: HandlerOptions, cure: string): NodeHandler {
  const settings = handlerSettings(options)
  return async (request, response) => {
    const given = await answer(nodeSource(request, [request], cure), settings)
    drain(request, settings.deadlineMs)
    write(response, given)
  }
}

function write(response: NodeResponse, { status, headers, body }: Answer): void {
  // A time-out of the host may have answered first.
  if (response.headersSent) return
  response.statusCode = status
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  response.end(body)
}
