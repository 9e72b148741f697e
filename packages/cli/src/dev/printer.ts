/** Prints the demo's events as text or JSON; a payment's `sent` comes before its `indexed`. @module */
import { formatAnswer } from '@payment-integration/core/internal'
import type { Io } from '../io.js'
import { createStyle, jsonLine, type Style, shortHash } from '../output.js'
import type {
  DeliveryEvent,
  DemoEvent,
  EnvFileEvent,
  LegacyReadyEvent,
  ReadyEvent,
  SummaryEvent,
} from './demo-events.js'

/** The keys of a demo on a terminal: what each does, and whether it needs the receiver of `--forward-to`. */
export const hotkeys = [
  { key: 't', name: 'pay', act: 'makes a payment now' },
  { key: 'r', name: 'replay', act: 'sends the last delivery again, even to a blocked receiver' },
  { key: 'a', name: 'retry all', act: 'attempts every unfinished delivery now, even to a blocked receiver' },
  { key: 'k', name: 'commands', act: 'prints commands to paste: read, share, trigger, look up, verify' },
  { key: 'o', name: 'console', act: 'opens the console in your browser' },
  { key: 'c', name: 'chaos', act: 'turns network faults to your receiver on or off', needsReceiver: true },
  { key: 'd', name: 'doctor', act: 'probes your receiver', needsReceiver: true },
  { key: '?', name: 'help', act: 'prints these lines' },
  { key: 'q', name: 'quit', act: 'stops, like Ctrl-C' },
] as const

interface PrinterOptions {
  readonly json: boolean
  readonly quiet: boolean
  readonly hasKeys: boolean
}

/**
 * Creates a printer. With `json` it prints one object per line, with the time as `at`; else text without repeated empty
 * lines. With `quiet` it omits successes.
 */
export function createDemoPrinter(io: Pick<Io, 'out' | 'color'>, options: PrinterOptions): DemoPrinter {
  const style = createStyle(io.color && !options.json)
  let last: string | null = null
  return (event, time) => {
    if (options.quiet && !isShownQuietly(event)) return
    if (options.json) return io.out(jsonLine({ ...event, at: new Date(time).toISOString() }))
    for (const line of formatEvent(event, time, style, options.hasKeys)) {
      if (line !== '' || last !== '') io.out(line)
      last = line
    }
  }
}

function formatEvent(event: DemoEvent, time: number, style: Style, hasKeys: boolean): string[] {
  const at = style.dim(formatClock(time))
  switch (event.event) {
    case 'ready':
      return formatHeader(event, style, hasKeys)
    case 'payment.sent':
      return ['', `${at}  payment  ${shortHash(event.txHash)}  ${event.price}, paid as ${event.paid}  ${event.memo}`]
    case 'payment.indexed':
      return [`${at}  indexed  ${shortHash(event.txHash)}  block ${event.blockNumber}`]
    case 'payment.changed':
      return [`${at}  state    ${shortHash(event.txHash)}  ${formatChange(event, style)}   v${event.version}`]
    case 'delivery.attempted':
      return formatDelivery(event, at, style)
    case 'receiver.rejected':
      return [`${at}  ${style.red(`receiver rejected a request: ${event.code}, answered ${event.status}`)}`]
    case 'receiver.blocked': {
      const hint = hasKeys ? '; press a to retry now' : ''
      const until = formatClock(Date.parse(event.until)).slice(0, -'.000'.length)
      return [`${at}  ${style.red(`receiver blocked until ${until} after ${event.failures} failures in a row${hint}`)}`]
    }
    case 'forward.failed':
      return [`${at}  ${style.red('receiver')} ${event.advice}`]
    case 'env.file':
      return formatEnvFile(event, style)
    case 'hotkey': {
      const lines = event.text.split('\n')
      return lines.length > 1 ? lines : [`${at}  ${style.dim(event.text)}`]
    }
    case 'payment.verified':
      return [
        `${at}  ${style.green('verified')} ${shortHash(event.txHash)}  ${event.state ?? 'none'} v${event.version}: the API agrees with the receiver's copy   ${(event.tookMs / 1000).toFixed(1)} s`,
      ]
    // The key k prints the legacy requests.
    case 'legacy.ready':
      return []
    case 'problem':
      return [`${at}  ${style.red(`problem  ${event.reason}`)}`]
    case 'summary':
      return formatSummary(event, style)
  }
}

function isShownQuietly(event: DemoEvent): boolean {
  if (event.event === 'delivery.attempted') return event.outcome !== 'delivered'
  return !/^(?:payment|legacy)\./.test(event.event)
}

/** The header: eleven lines. The line about the env file may follow as the twelfth. */
function formatHeader(event: ReadyEvent, style: Style, hasKeys: boolean): string[] {
  const { url, forwardsTo } = event
  const row = (name: string, value: string, note = '') =>
    `  ${name.padEnd(14)}  ${value}${note === '' ? '' : `   ${style.dim(note)}`}`
  const keys = hotkeys
    .filter((hotkey) => forwardsTo !== null || !('needsReceiver' in hotkey))
    .map(({ key, name }) => `${style.bold(key)} ${name}`)
  return [
    `${style.bold(`payment-integration dev ${event.version}`)}   ready in ${(event.readyMs / 1000).toFixed(1)} s   ${style.dim(`nothing leaves this machine, seed ${event.seed}`)}`,
    '',
    row('Console', style.cyan(`${url}/console`), 'payments, deliveries and chains, live'),
    row('Portal', style.cyan(`${url}/portal`), 'the demo shop alone; sign in with the address and the API secret'),
    row('API', style.cyan(`${url}/api/v1`), `described at ${url}/reference`),
    forwardsTo === null
      ? row('Receiver', event.receiverUrl, 'built in, verifies and stores')
      : row('Receiver', style.cyan(forwardsTo), 'yours; the built-in one checks each delivery too'),
    row('Integration', event.integrationAddress),
    row('API secret', event.apiSecret),
    row('Webhook secret', event.signingSecret),
    row('Legacy API key', event.legacyApiKey),
    row('Keys', hasKeys ? keys.join('   ') : 'Ctrl-C stops the demo; on a terminal, ? lists the keys'),
  ]
}

/** Commands to paste, and the demo's parts. @param legacy - The requests of the first verified payment, if any. */
export function formatCommands(event: ReadyEvent, legacy: LegacyReadyEvent | null): string[] {
  const { url, integrationAddress } = event
  const credentials = `-u ${integrationAddress}:${event.apiSecret}`
  const json = '-H "Content-Type: application/json"'
  const key = `-H "Authorization: ${event.legacyApiKey}"`
  return [
    '',
    'Read the payments:',
    `curl -s ${credentials} ${url}/api/v1/integration/payments`,
    "Share a user's verification; repeat after two seconds to see GREEN:",
    `curl -s ${credentials} ${json} -d '${JSON.stringify(event.shareRequest)}' ${event.shareUrl}`,
    'Mint another share token with mintShareToken of @payment-integration/identity-sumsub:',
    `mintShareToken(${JSON.stringify(event.minting)})`,
    'Simulate an event, such as a refund or late versions; payment-integration trigger --help lists them:',
    `curl -sN ${credentials} ${json} -d '{"scenario":"refund"}' ${event.triggerUrl}`,
    ...(legacy === null
      ? []
      : [
          'Look up the first verified payment in the legacy API:',
          `curl -s ${key} ${legacy.lookupUrl}`,
          "Verify it; the invoice is the paid amount, as the chain does not know the shop's price:",
          `curl -s ${key} ${json} -d '${JSON.stringify(legacy.verifyRequest)}' ${legacy.verifyUrl}`,
        ]),
    `Account   ${event.accountHandle}, paid in ${event.tokenSymbol} at ${event.accountAddress}`,
    `Identity  ${event.identityProviderUrl}, a provider on this machine, which approves shared verifications`,
    `Chain     ${event.rpcUrl}, anvil, chain ${event.chainId}, router ${event.router}@${event.routerVersion}`,
    `Files     ${event.folder}, ${event.kept ? 'kept' : 'removed at the end'}; the secrets are valid for this run only`,
    '',
  ]
}

function formatEnvFile(event: EnvFileEvent, style: Style): string[] {
  if (event.kind === 'kept')
    return [
      `  ${style.yellow(`${event.path} was not changed: it has your own values or is not UTF-8. PAYMENTS_URL is the API above without /api/v1.`)}`,
    ]
  const ignored = event.ignored ? '' : `   ${style.yellow('add it to .gitignore: it holds secrets')}`
  return [`  Env file        ${event.path} ${style.dim('written with the five values')}${ignored}`]
}

function formatDelivery(event: DeliveryEvent, at: string, style: Style): string[] {
  const status = formatAnswer(event)
  const color = event.outcome === 'delivered' ? style.green : style.red
  const after = {
    delivered: event.receiver ?? '',
    pending: `retry in ${((event.retryInMs ?? 0) / 1000).toFixed(1)} s`,
    superseded: 'superseded by a newer version; not sent again',
  }[event.outcome]
  return [
    `${at}    --> ${shortHash(event.txHash)}  v${event.version}  attempt ${event.attempt}`,
    `${at}    ${color(`<-- ${status}`)}  ${Math.round(event.latencyMs)} ms   ${after ?? 'no further attempt'}`,
  ]
}

function formatChange({ from, to }: Readonly<Record<'from' | 'to', string | null>>, style: Style): string {
  const color = /success$/.test(to ?? '') ? style.green : /failure$/.test(to ?? '') ? style.red : style.yellow
  return `${from ?? 'none'} -> ${color(to ?? 'none')}`
}

function formatSummary(event: SummaryEvent, style: Style): string[] {
  const verdict = event.ok ? style.green('ok') : style.red('failed')
  const median = event.p50Ms === null ? '-' : `${Math.round(event.p50Ms)} ms`
  return [
    '',
    `${verdict}   ${event.payments} payments   ${event.verified} verified   ${event.delivered} delivered   ${event.retried} retried   p50 ${median}   ${(event.runMs / 1000).toFixed(1)} s`,
    ...event.reasons.map((reason) => `  ${style.red('-')} ${reason}`),
    ...(event.folder === null ? [] : [`Files are in ${event.folder}`]),
  ]
}

function formatClock(time: number): string {
  const date = new Date(time)
  return `${date.toTimeString().slice(0, 8)}.${String(date.getMilliseconds()).padStart(3, '0')}`
}

/** Prints an event with its unix time in milliseconds. */
type DemoPrinter = (event: DemoEvent, time: number) => void

export type EventOrder = ReturnType<typeof createEventOrder>

/** Reports events in their order; `first` prints one event before those that other parts report meanwhile. */
export function createEventOrder(print: DemoPrinter, clock: Pick<Io, 'now'>) {
  let delayed: (readonly [DemoEvent, number])[] | null = null
  return {
    report(event: DemoEvent): void {
      if (delayed) delayed.push([event, clock.now()])
      else print(event, clock.now())
    },
    /**
     * Runs `work`, and holds back all other events until the event of `work` is printed. So a payment is shown as sent
     * before it is shown as indexed, even when the indexer is faster than the answer to the payer.
     */
    async first<T>(work: () => Promise<T>, event: (result: T) => DemoEvent): Promise<T> {
      delayed = []
      try {
        const result = await work()
        print(event(result), delayed[0]?.[1] ?? clock.now())
        return result
      } finally {
        const waiting = delayed
        delayed = null
        for (const [later, time] of waiting) print(later, time)
      }
    },
  }
}
