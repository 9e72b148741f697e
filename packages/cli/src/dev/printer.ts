/** Orders the events of the demo as a person expects them, and prints them as text or JSON. @module */
import { answerText } from '@payment-integration/core/internal'
import type { Io } from '../io.js'
import { createStyle, jsonLine, type Style, shortHash } from '../output.js'
import type {
  DeliveryEvent,
  DemoEvent,
  DemoSink,
  EnvFileEvent,
  LegacyReadyEvent,
  ReadyEvent,
  SummaryEvent,
} from './demo-events.js'

/**
 * Creates a printer. With `json` it prints an object per line, with the time as `at`; else text without repeated empty
 * lines. With `quiet` it omits success.
 */
export function createDemoPrinter(
  io: Pick<Io, 'out' | 'colour'>,
  options: { readonly json: boolean; readonly quiet: boolean },
): DemoPrinter {
  const style = createStyle(io.colour && !options.json)
  let last: string | null = null
  /** The run names its keys once it reads them. */
  let hasKeys = false
  return (event, time) => {
    if (event.event === 'hotkey') hasKeys = true
    if (options.quiet && !isShownQuietly(event)) return
    if (options.json) return io.out(jsonLine({ ...event, at: new Date(time).toISOString() }))
    for (const line of demoText(event, time, { style, hasKeys })) {
      if (line !== '' || last !== '') io.out(line)
      last = line
    }
  }
}

function demoText(
  event: DemoEvent,
  time: number,
  { style, hasKeys }: { readonly style: Style; readonly hasKeys: boolean },
): string[] {
  const at = style.dim(clock(time))
  switch (event.event) {
    case 'ready':
      return header(event, style)
    case 'payment.sent':
      return ['', `${at}  payment  ${shortHash(event.txHash)}  ${event.price}, paid as ${event.paid}  ${event.memo}`]
    case 'payment.indexed':
      return [`${at}  indexed  ${shortHash(event.txHash)}  block ${event.blockNumber}`]
    case 'payment.changed':
      return [`${at}  state    ${shortHash(event.txHash)}  ${change(event.from, event.to, style)}   v${event.version}`]
    case 'delivery.attempted':
      return delivery(event, at, style)
    case 'receiver.refused':
      return [`${at}  ${style.red(`receiver rejected a request: ${event.code}, answered ${event.status}`)}`]
    case 'receiver.blocked': {
      const hint = hasKeys ? '; press r to retry now' : ''
      const until = clock(Date.parse(event.until)).slice(0, -'.000'.length)
      return [`${at}  ${style.red(`receiver blocked until ${until} after ${event.failures} failures in a row${hint}`)}`]
    }
    case 'forward.failed':
      return [`${at}  ${style.red('receiver')} ${event.advice}`]
    case 'env.file':
      return envFile(event, style)
    case 'hotkey':
      return event.text
        .split('\n')
        .map((line) => (event.key === 'd' ? line : `${event.key === '?' ? '  ' : `${at}  `}${style.dim(line)}`))
    case 'payment.verified':
      return [
        `${at}  ${style.green('verified')} ${shortHash(event.txHash)}  ${event.state ?? 'none'} v${event.version}: the API agrees with the receiver's copy   ${(event.tookMs / 1000).toFixed(1)} s`,
      ]
    case 'legacy.ready':
      return legacy(event, style)
    case 'problem':
      return [`${at}  ${style.red(`problem  ${event.reason}`)}`]
    case 'summary':
      return summary(event, style)
  }
}

const shownQuietly: readonly DemoEvent['event'][] = [
  ...(['ready', 'summary', 'problem', 'receiver.refused', 'receiver.blocked'] as const),
  ...(['forward.failed', 'env.file', 'hotkey'] as const),
]

/** Whether `--quiet` still shows an event. */
function isShownQuietly(event: DemoEvent): boolean {
  if (event.event === 'delivery.attempted') return event.outcome !== 'delivered'
  return shownQuietly.includes(event.event)
}

function header(event: ReadyEvent, style: Style): string[] {
  const { url, integrationAddress, apiSecret, signingSecret } = event
  const seconds = (event.readyMs / 1000).toFixed(1)
  return [
    `${style.bold(`payment-integration dev ${event.version}`)}   nothing leaves this machine, seed ${event.seed}   ${style.dim(`ready in ${seconds} s`)}`,
    '',
    `  Console         ${style.cyan(`${url}/console`)}   ${style.dim('payments, deliveries and chains, live')}`,
    `  Portal          ${style.cyan(`${url}/portal`)}   ${style.dim('the demo shop alone; sign in with the address and the API secret below')}`,
    `  Base URL        ${style.cyan(url)}   ${style.dim('the API is under /api/v1')}`,
    `  Integration     ${integrationAddress}`,
    `  API secret      ${apiSecret}`,
    `  Webhook secret  ${signingSecret}`,
    `  Legacy API key  ${event.legacyApiKey}`,
    `  Account         ${event.accountHandle}   ${style.dim(`paid in ${event.tokenSymbol} at ${event.accountAddress}`)}`,
    ...(event.forwardsTo === null
      ? [`  Receiver        ${event.receiverUrl}   ${style.dim('built in, verifies and stores')}`]
      : [
          `  Receiver        ${style.cyan(event.forwardsTo)}   ${style.dim('yours; the built-in one checks each delivery too')}`,
        ]),
    `  Identity        ${event.identityProviderUrl}   ${style.dim('a provider on this machine, which approves shared verifications')}`,
    `  Chain           ${event.rpcUrl}   ${style.dim(`anvil, chain ${event.chainId}, router ${event.router}@${event.routerVersion}`)}`,
    `  Files           ${event.folder}   ${style.dim(event.kept ? 'kept' : 'removed at the end')}`,
    `  ${style.dim('The master key and the secrets are valid for this run only.')}`,
    '',
    '  Read the payments:',
    `  curl -s -u ${integrationAddress}:${apiSecret} ${url}/api/v1/integration/payments`,
    '  Share the verification of a user; repeat it after two seconds to see it GREEN:',
    `  curl -s -u ${integrationAddress}:${apiSecret} -H "Content-Type: application/json" -d '${JSON.stringify(event.shareRequest)}' ${event.shareUrl}`,
    '  Mint another share token with mintShareToken of @payment-integration/identity-sumsub:',
    `  mintShareToken(${JSON.stringify(event.minting)})`,
    '  Cause an event, such as a refund or late versions; payment-integration trigger --help lists them:',
    `  curl -sN -u ${integrationAddress}:${apiSecret} -H "Content-Type: application/json" -d '{"scenario":"refund"}' ${event.triggerUrl}`,
    '',
    `  ${style.dim('Ctrl-C stops the demo.')}`,
  ]
}

function envFile(event: EnvFileEvent, style: Style): string[] {
  if (event.kind === 'kept')
    return [
      `  ${style.yellow(`${event.path} has values of yours and was not changed: use the five values from above.`)}`,
    ]
  const ignored = event.ignored ? '' : `   ${style.yellow('add it to .gitignore: it holds secrets')}`
  return [`  Env file        ${event.path} ${style.dim('written with the five values')}${ignored}`]
}

function legacy(event: LegacyReadyEvent, style: Style): string[] {
  const key = `-H "Authorization: ${event.legacyApiKey}"`
  return [
    '',
    "  Look up the first verified payment in the legacy API. Its invoice is the paid amount: the chain does not know the shop's price.",
    `  curl -s ${key} ${event.lookupUrl}`,
    '  Verify it against that invoice:',
    `  curl -s ${key} -H "Content-Type: application/json" -d '${JSON.stringify(event.verifyRequest)}' ${event.verifyUrl}`,
    `  All endpoints of the API: ${style.cyan(event.referenceUrl)}`,
    '',
  ]
}

function delivery(event: DeliveryEvent, at: string, style: Style): string[] {
  const status = answerText(event)
  const good = event.outcome === 'delivered'
  const colour = good ? style.green : style.red
  const after = {
    delivered: event.receiver ?? '',
    pending: `retry in ${((event.retryInMs ?? 0) / 1000).toFixed(1)} s`,
    superseded: 'superseded by a newer version; not sent again',
  }[event.outcome]
  return [
    `${at}    --> ${shortHash(event.txHash)}  v${event.version}  attempt ${event.attempt}`,
    `${at}    ${colour(`<-- ${status}`)}  ${Math.round(event.latencyMs)} ms   ${after ?? 'no further attempt'}`,
  ]
}

function change(from: string | null, to: string | null, style: Style): string {
  return `${from ?? 'none'} -> ${style.yellow(to ?? 'none')}`
}

function summary(event: SummaryEvent, style: Style): string[] {
  const verdict = event.ok ? style.green('ok') : style.red('failed')
  const median = event.p50Ms === null ? '-' : `${Math.round(event.p50Ms)} ms`
  return [
    '',
    `${verdict}   ${event.payments} payments   ${event.verified} verified   ${event.delivered} delivered   ${event.retried} retried   p50 ${median}   ${(event.runMs / 1000).toFixed(1)} s`,
    ...event.reasons.map((reason) => `  ${style.red('-')} ${reason}`),
    ...(event.folder === null ? [] : [`Files are in ${event.folder}`]),
  ]
}

function clock(time: number): string {
  const date = new Date(time)
  const two = (value: number) => String(value).padStart(2, '0')
  const milliseconds = String(date.getMilliseconds()).padStart(3, '0')
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${milliseconds}`
}

/** Prints an event with its unix time in milliseconds. */
type DemoPrinter = (event: DemoEvent, time: number) => void

/** Receives events and passes them to a printer. */
export interface Stage {
  readonly report: DemoSink
  /**
   * Runs `work` and delays events of others until its own event is printed. The indexer can be faster than the answer
   * to the payer, and the payment must be shown as sent before it is shown as indexed.
   */
  first<T>(work: () => Promise<T>, event: (result: T) => DemoEvent): Promise<T>
}

export function createStage(print: DemoPrinter, now: () => number): Stage {
  let delayed: (readonly [DemoEvent, number])[] | null = null
  return {
    report(event) {
      if (delayed) delayed.push([event, now()])
      else print(event, now())
    },
    async first(work, event) {
      delayed = []
      const startedAt = now()
      try {
        const result = await work()
        print(event(result), delayed[0]?.[1] ?? now())
        return result
      } finally {
        const waiting = delayed
        delayed = null
        for (const [later, time] of waiting) print(later, Math.max(time, startedAt))
      }
    },
  }
}
