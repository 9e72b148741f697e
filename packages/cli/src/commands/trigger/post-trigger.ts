/** Posts a trigger to a server and reads its events. @module */
import type { TriggerEvent, TriggerRequest } from '@payment-integration/testing/twin'
import { ServerError } from '../../errors.js'
import { plain } from '../../format.js'

/** An event, or the end of a scenario that could not go on. */
export type PostedEvent = TriggerEvent | { readonly event: 'failed'; readonly reason: string }

/** Where to post, and as whom. */
export interface TriggerTarget {
  readonly url: URL
  readonly authorization: string
  /** Names the API secret in messages. */
  readonly apiSecretEnv: string
}

/** Longest line, in characters: a block of 100 hashes is shorter. */
const maxLine = 1_000_000

/** Causes the events while they are read. @throws ServerError `ERR_SERVER` when the server does not answer as it should. */
export async function* postTrigger(
  { url, authorization, apiSecretEnv }: TriggerTarget,
  request: TriggerRequest,
  signal: AbortSignal,
): AsyncGenerator<PostedEvent, void, undefined> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { Authorization: authorization, 'Content-Type': 'application/json' },
    body: JSON.stringify(request),
    redirect: 'manual',
    signal,
  }).catch(() => {
    throw new ServerError(`${url.host} is not reachable; is the server running there?`)
  })
  if (response.status !== 200 || response.body === null) throw await refusal(response, apiSecretEnv)
  let rest = ''
  const text = response.body.pipeThrough(new TextDecoderStream())
  try {
    for await (const chunk of text) {
      const lines = `${rest}${chunk}`.split('\n')
      rest = lines.pop() ?? ''
      if (rest.length > maxLine) throw new ServerError('The server sent no events.')
      for (const line of lines) yield eventOf(line)
    }
  } catch (error) {
    if (error instanceof ServerError) throw error
    throw new ServerError('The connection was cut before the scenario ended.')
  }
}

function eventOf(line: string): PostedEvent {
  try {
    return JSON.parse(line) as PostedEvent
  } catch {
    throw new ServerError('The server sent no events.')
  }
}

async function refusal(response: Response, apiSecretEnv: string): Promise<ServerError> {
  const { status } = response
  if (status === 401)
    return new ServerError(
      `The server rejects the credentials: check the integration and the API secret in ${apiSecretEnv}. It is not the signing secret.`,
    )
  if (status === 404)
    return new ServerError(
      'The server causes no events: its operator allows it with PI_SIMULATED_CHAINS, in development alone.',
    )
  const body = (await response.json().catch(() => null)) as { readonly error?: unknown } | null
  const reason = typeof body?.error === 'string' ? `: ${plain(body.error).slice(0, 300)}` : ''
  return new ServerError(`The server answers ${status}${reason}`)
}
