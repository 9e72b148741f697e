/** Posts a trigger to a server and reads its events. @module */
import { parseForeignJson, readForeignJson } from '@payment-integration/contract/parse'
import type { TriggerEvent, TriggerRequest } from '@payment-integration/testing/twin'
import { InterruptedError, ServerError } from '../../errors.js'

/** Where to post, and as whom. */
export interface TriggerTarget {
  readonly url: URL
  readonly authorization: string
  /** Names the API secret in messages. */
  readonly apiSecretEnv: string
}

/** Longest line, in characters: a block of 100 hashes is shorter. */
const maxLine = 1_000_000

/**
 * Causes the events while they are read. The last one is `done` or `failed`.
 * @throws ServerError `ERR_SERVER` when the server does not answer as it should; InterruptedError `ERR_INTERRUPTED`
 * when `signal` aborts.
 */
export async function* postTrigger(
  target: TriggerTarget,
  request: TriggerRequest,
  signal: AbortSignal,
): AsyncGenerator<TriggerEvent, void, undefined> {
  let isWhole = false
  try {
    for await (const event of read(target, request, signal)) {
      isWhole = event.event === 'done' || event.event === 'failed'
      yield event
    }
  } catch (error) {
    if (signal.aborted)
      throw new InterruptedError('Interrupted. The events that were caused so far are not undone.', { cause: error })
    throw error instanceof ServerError ? error : new ServerError(cut, { cause: error })
  }
  if (!isWhole) throw new ServerError(cut)
}

const cut = 'The connection was cut before the scenario ended.'

async function* read(
  { url, authorization, apiSecretEnv }: TriggerTarget,
  request: TriggerRequest,
  signal: AbortSignal,
): AsyncGenerator<TriggerEvent, void, undefined> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { Authorization: authorization, 'Content-Type': 'application/json' },
    body: JSON.stringify(request),
    redirect: 'manual',
    signal,
  }).catch((cause: unknown) => {
    throw new ServerError(`${url.host} is not reachable; is the server running there?`, { cause })
  })
  if (response.status !== 200 || response.body === null) throw await refusal(response, apiSecretEnv)
  let rest = ''
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > maxLine) throw new ServerError(noEvents)
    for (const line of lines) yield eventOf(line)
  }
}

const noEvents = 'The server sent something else than events.'

function eventOf(line: string): TriggerEvent {
  try {
    const event = parseForeignJson(Buffer.from(line))
    if (typeof event === 'object' && event !== null && 'event' in event) return event as TriggerEvent
  } catch {
    // Said below.
  }
  throw new ServerError(noEvents)
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
  const body = (await readForeignJson(response, maxLine).catch(() => null)) as { readonly error?: unknown } | null
  const reason = typeof body?.error === 'string' ? `: ${body.error.slice(0, 300)}` : ''
  return new ServerError(`The server answers ${status}${reason}`)
}
